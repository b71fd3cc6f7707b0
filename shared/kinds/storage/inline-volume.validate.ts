/** A volume that exists nowhere but in its attachment: nothing that binds it to a claim, and no source but a driver. */
import {type FieldError, fieldForbidden, required} from '../../field-errors.ts';
import {oneOf, subdomain} from '../common/checks.ts';
import {validateAccessModes, volumeModes} from '../common/claims.ts';
import {type GoField, goShape} from '../common/go-shape.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {persistentSources} from '../common/volume-sources.ts';

const context = 'in the context of inline volumes';

export function validateInlineVolume(spec: Part, path: string): FieldError[] {
  const forbidden = (field: string): FieldError => fieldForbidden(`${path}.${field}`, `may not be specified ${context}`);
  const modes: string[] = list(spec.accessModes);
  const policy = spec.persistentVolumeReclaimPolicy;
  const errors: FieldError[] = [];
  if (spec.claimRef) errors.push(forbidden('claimRef'));
  if (entries(spec.capacity).length) errors.push(forbidden('capacity'));
  if (!spec.csi) errors.push(required(`${path}.csi`, `has to be specified ${context}`));
  errors.push(...(modes.length ? validateAccessModes(modes, `${path}.accessModes`) : [required(`${path}.accessModes`)]));
  if (policy && policy !== 'Retain') errors.push(fieldForbidden(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain ${context}`));
  if (spec.nodeAffinity) errors.push(forbidden('nodeAffinity'));
  if (spec.csi) errors.push(...persistentSources['csi']!(spec.csi, `${path}.csi`));
  if (!Object.keys(persistentSources).some((type) => spec[type])) errors.push(required(path, 'must specify a volume type'));
  if (spec.storageClassName) errors.push(...subdomain(spec.storageClassName, `${path}.storageClassName`));
  return [...errors, ...oneOf(spec.volumeMode, volumeModes, `${path}.volumeMode`, true)];
}

const secret: readonly GoField[] = [
  ['Name', 'name', ''],
  ['Namespace', 'namespace', ''],
];
const secrets = ['ControllerPublish', 'NodeStage', 'NodePublish', 'ControllerExpand', 'NodeExpand'].map(
  (use): GoField => [`${use}SecretRef`, `${use.charAt(0).toLowerCase()}${use.slice(1)}SecretRef`, null, secret],
);
const csi: readonly GoField[] = [
  ['Driver', 'driver', ''],
  ['VolumeHandle', 'volumeHandle', ''],
  ['ReadOnly', 'readOnly', false],
  ['FSType', 'fsType', ''],
  ['VolumeAttributes', 'volumeAttributes', null],
  ...secrets,
];
/** Sources that cannot be part of a stored inline volume are shown as what they are there: absent. */
const sources: readonly (readonly [string, string])[] = [
  ['GCEPersistentDisk', 'gcePersistentDisk'],
  ['AWSElasticBlockStore', 'awsElasticBlockStore'],
  ['HostPath', 'hostPath'],
  ['Glusterfs', 'glusterfs'],
  ['NFS', 'nfs'],
  ['RBD', 'rbd'],
  ['Quobyte', 'quobyte'],
  ['ISCSI', 'iscsi'],
  ['FlexVolume', 'flexVolume'],
  ['Cinder', 'cinder'],
  ['CephFS', 'cephfs'],
  ['FC', 'fc'],
  ['Flocker', 'flocker'],
  ['AzureFile', 'azureFile'],
  ['VsphereVolume', 'vsphereVolume'],
  ['AzureDisk', 'azureDisk'],
  ['PhotonPersistentDisk', 'photonPersistentDisk'],
  ['PortworxVolume', 'portworxVolume'],
  ['ScaleIO', 'scaleIO'],
  ['Local', 'local'],
  ['StorageOS', 'storageos'],
];
const volume: readonly GoField[] = [
  ['Capacity', 'capacity', null],
  ...sources.map(([go, wire]): GoField => [go, wire, null]),
  ['CSI', 'csi', null, csi],
  ['AccessModes', 'accessModes', null],
  ['ClaimRef', 'claimRef', null],
  ['PersistentVolumeReclaimPolicy', 'persistentVolumeReclaimPolicy', ''],
  ['StorageClassName', 'storageClassName', ''],
  ['MountOptions', 'mountOptions', null],
  ['VolumeMode', 'volumeMode', null],
  ['NodeAffinity', 'nodeAffinity', null],
  ['VolumeAttributesClassName', 'volumeAttributesClassName', null],
];

export const shownInlineVolume = (spec: Part): Part => goShape(spec, volume);
