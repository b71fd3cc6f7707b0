/** Whether a volume is well formed: one source, which stays. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {quotable} from '../../schema/normalize.ts';
import {oneOf, subdomain} from '../common/checks.ts';
import {validateAccessModes, volumeModes} from '../common/claims.ts';
import {sameJson} from '../common/equal.ts';
import {internalForm, volumeNodeAffinityShape} from '../common/internal-form.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {nanos} from '../common/quantity.ts';
import {nodeSelector} from '../common/scheduling.ts';
import {persistentSources} from '../common/volume-sources.ts';

const order = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
];

function sources(spec: Part, name: string): FieldError[] {
  const errors: FieldError[] = [];
  let found = false;
  for (const type of order) {
    const source = spec[type];
    if (!source) continue;
    const path = type === 'gcePersistentDisk' ? 'spec.persistentDisk' : `spec.${type}`;
    if (found && type !== 'flexVolume')
      errors.push(fieldForbidden(`spec.${type === 'cephfs' ? 'cephFS' : type}`, 'may not specify more than 1 volume type'));
    else {
      errors.push(...persistentSources[type]!(source, path));
      if (type === 'iscsi' && source.initiatorName !== undefined && `${name}:${source.targetPortal ?? ''}`.length > 64)
        errors.push(
          invalid(
            `${path}.targetportal`,
            source.targetPortal ?? '',
            'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
          ),
        );
      if (type === 'local' && !spec.nodeAffinity) errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
    }
    found = true;
  }
  return found ? errors : [required('spec', 'must specify a volume type')];
}

export function validatePersistentVolume({metadata, spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const modes = list(spec.accessModes);
  const errors = [...(modes.length ? [] : [required('spec.accessModes')]), ...validateAccessModes(modes, 'spec.accessModes')];
  const capacity = entries(spec.capacity);
  if (!capacity.length) errors.push(required('spec.capacity'));
  if (spec.capacity?.storage === undefined || capacity.length > 1)
    errors.push(notSupported('spec.capacity', quotable(spec, 'capacity'), ['storage']));
  for (const [name, value] of capacity) {
    const at = `spec.capacity[${name}]`;
    if (nanos(value) < 0n) errors.push(invalid(at, Number(nanos(value) / 1_000_000_000n), 'must be a valid resource quantity'));
    if (nanos(value) <= 0n) errors.push(invalid(at, value, 'must be greater than zero'));
  }
  if (spec.persistentVolumeReclaimPolicy)
    errors.push(...oneOf(spec.persistentVolumeReclaimPolicy, ['Delete', 'Recycle', 'Retain'], 'spec.persistentVolumeReclaimPolicy', true));
  if (spec.nodeAffinity)
    errors.push(
      ...(spec.nodeAffinity.required
        ? nodeSelector(spec.nodeAffinity.required, 'spec.nodeAffinity.required')
        : [required('spec.nodeAffinity.required', 'must specify required node constraints')]),
    );
  errors.push(...sources(spec, metadata.name ?? ''));
  if (spec.hostPath && /^\/+(\.?\/*)*$/.test(spec.hostPath.path ?? '') && spec.persistentVolumeReclaimPolicy === 'Recycle')
    errors.push(fieldForbidden('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"));
  if (spec.storageClassName) errors.push(...subdomain(spec.storageClassName, 'spec.storageClassName'));
  errors.push(...oneOf(spec.volumeMode, volumeModes, 'spec.volumeMode', true));
  const attributes = spec.volumeAttributesClassName;
  if (attributes !== undefined) {
    const at = 'spec.volumeAttributesClassName';
    errors.push(...(attributes ? subdomain(attributes, at) : [required(at, 'an empty string is disallowed')]));
    if (!spec.csi) errors.push(required('spec.csi', 'has to be specified when using volumeAttributesClassName'));
  }
  return errors;
}

export function validatePersistentVolumeUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return [];
  // Twice, as the strategy judges the whole before the update does.
  const errors = [...validatePersistentVolume(object), ...validatePersistentVolume(object)];
  const [spec, before] = [object.spec ?? {}, old.spec ?? {}];
  const source = (from: Part): Part => Object.fromEntries(order.filter((type) => from[type]).map((type) => [type, from[type]]));
  const given = structuredClone(source(spec));
  // The one part that may be added later.
  if (before.csi && !before.csi.controllerExpandSecretRef) delete given.csi?.controllerExpandSecretRef;
  if (!sameJson(given, source(before)))
    errors.push(
      fieldForbidden(
        'spec.persistentvolumesource',
        `spec.persistentvolumesource is immutable after creation\n- ${JSON.stringify(source(before))}\n+ ${JSON.stringify(given)}\n`,
      ),
    );
  if (spec.volumeMode !== before.volumeMode) errors.push(invalid('volumeMode', spec.volumeMode ?? null, immutable));
  if (before.nodeAffinity && !sameJson(betaToStable(spec.nodeAffinity, before.nodeAffinity), spec.nodeAffinity))
    errors.push(
      invalid(
        'nodeAffinity',
        internalForm(spec.nodeAffinity, volumeNodeAffinityShape),
        `${immutable}, except for updating from beta label to GA`,
      ),
    );
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined)
    errors.push(fieldForbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'));
  return errors;
}

const stable: Record<string, string> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** The stored affinity with each old label renamed where the new affinity has renamed it. */
function betaToStable(given: Part, old: Part): Part {
  const renamed = structuredClone(old);
  for (const [index, term] of list(renamed.required?.nodeSelectorTerms).entries())
    for (const [position, requirement] of list(term.matchExpressions).entries()) {
      const key = given?.required?.nodeSelectorTerms?.[index]?.matchExpressions?.[position]?.key;
      if (key !== undefined && stable[requirement.key] === key) requirement.key = key;
    }
  return renamed;
}
