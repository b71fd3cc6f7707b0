/** The volumes of a pod: exactly one source each, names that are unique. */
import {duplicate, type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {ObjectMeta} from '../../object.ts';
import {label, need, oneOf, problems} from './checks.ts';
import {claimTemplate} from './claims.ts';
import {containerResourceField, objectField} from './field-refs.ts';
import {validateLabelSelector} from './labels.ts';
import {list, type Part} from './loose.ts';
import {dns1123Subdomain} from './names.ts';
import {unreservedPath} from './paths.ts';
import {nanos} from './quantity.ts';
import {fileMode, keyToPath, podSources} from './volume-sources.ts';

/** In the order in which the reference looks at them: the first one that is set is the volume's, others are too many. */
const order = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
];
/** Paths that the reference spells otherwise than the field. */
const spellings: Record<string, {whenSecond?: string; within?: string}> = {
  cephfs: {whenSecond: 'cephFS'},
  downwardAPI: {whenSecond: 'downwarAPI'},
  gcePersistentDisk: {within: 'persistentDisk'},
};

export interface VolumeContext {
  /** Of the pod; absent in templates. */
  meta?: ObjectMeta;
  isPod: boolean;
}

const downwardFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

function downwardFile(file: Part, path: string): FieldError[] {
  const errors = [...need(file.path, `${path}.path`), ...unreservedPath(file.path ?? '', `${path}.path`)];
  if (file.fieldRef) {
    errors.push(...objectField(file.fieldRef, downwardFields, `${path}.fieldRef`));
    if (file.resourceFieldRef) errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (file.resourceFieldRef) errors.push(...containerResourceField(file.resourceFieldRef, `${path}.resourceFieldRef`, true));
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...fileMode(file.mode, `${path}.mode`)];
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];

function projected(source: Part, path: string): FieldError[] {
  const errors = fileMode(source.defaultMode, `${path}.defaultMode`);
  const paths = new Set<string>();
  const claim = (file: string, shown: string): void => {
    if (paths.has(file)) errors.push(invalid(path, shown, 'conflicting duplicate paths'));
    paths.add(file);
  };
  for (const [index, item] of list(source.sources).entries()) {
    const at = `${path}.sources[${index}]`;
    for (const kind of ['secret', 'configMap']) {
      if (!item[kind]) continue;
      errors.push(...need(item[kind].name, `${at}.${kind}.name`));
      for (const [position, file] of list(item[kind].items).entries()) {
        errors.push(...keyToPath(file, `${at}.${kind}.items[${position}]`));
        if (file.path) claim(file.path, item[kind].name ?? '');
      }
    }
    for (const file of list(item.downwardAPI?.items)) {
      errors.push(...downwardFile(file, `${at}.downwardAPI`));
      if (file.path) claim(file.path, file.path);
    }
    if (item.serviceAccountToken) errors.push(...tokenProjection(item.serviceAccountToken, `${at}.serviceAccountToken`, path));
    if (item.clusterTrustBundle) {
      const bundle = item.clusterTrustBundle;
      errors.push(...trustBundle(bundle, `${at}.clusterTrustBundle`));
      claim(bundle.path ?? '', bundle.path ?? '');
    }
    if (item.podCertificate) {
      const certificate = item.podCertificate;
      const here = `${at}.podCertificate`;
      if (!keyTypes.includes(certificate.keyType)) errors.push(notSupported(`${here}.keyType`, certificate.keyType ?? '', keyTypes));
      const files = ['credentialBundlePath', 'keyPath', 'certificateChainPath'].filter((field) => certificate[field]);
      for (const field of files) {
        errors.push(...unreservedPath(certificate[field], `${here}.${field}`));
        claim(certificate[field], certificate[field]);
      }
      if (!files.length) errors.push(required(here, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'));
    }
    if (Object.values(item).filter(Boolean).length > 1)
      errors.push(fieldForbidden(at, 'may not specify more than 1 volume type per source'));
  }
  return errors;
}

function tokenProjection(token: Part, path: string, volume: string): FieldError[] {
  const errors: FieldError[] = [];
  const seconds = token.expirationSeconds ?? 0;
  const at = `${path}.expirationSeconds`;
  if (seconds < 600) errors.push(invalid(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32) errors.push(invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  // The reference blames the whole volume for a token's path.
  return [...errors, ...(token.path ? unreservedPath(token.path, `${volume}.path`) : [required(`${volume}.path`)])];
}

function trustBundle(bundle: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const {name, signerName} = bundle;
  if (name !== undefined && signerName !== undefined) errors.push(invalid(path, bundle, 'only one of name and signerName may be used'));
  else if (name !== undefined) {
    if (name === '') errors.push(required(`${path}.name`, 'must be a valid object name'));
    if (bundle.labelSelector)
      errors.push(invalid(`${path}.labelSelector`, bundle.labelSelector, 'labelSelector must be unset if name is specified'));
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(`${path}.signerName`, 'must be a valid signer name'));
    errors.push(...validateLabelSelector(bundle.labelSelector, `${path}.labelSelector`));
  } else errors.push(required(path, 'either name or signerName must be specified'));
  return [...errors, ...need(bundle.path, `${path}.path`), ...unreservedPath(bundle.path ?? '', `${path}.path`)];
}

function source(type: string, given: Part, volume: Part, path: string, at: string, {meta, isPod}: VolumeContext): FieldError[] {
  const name: string = volume.name ?? '';
  switch (type) {
    case 'emptyDir':
      return given.sizeLimit !== undefined && nanos(given.sizeLimit) < 0n
        ? [fieldForbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
        : [];
    case 'downwardAPI':
      return [...fileMode(given.defaultMode, `${at}.defaultMode`), ...list(given.items).flatMap((file) => downwardFile(file, at))];
    case 'projected':
      return projected(given, at);
    case 'image':
      return [
        ...(isPod ? need(given.reference, `${at}.reference`) : []),
        ...oneOf(given.pullPolicy, ['Always', 'IfNotPresent', 'Never'], `${at}.pullPolicy`),
      ];
    case 'ephemeral': {
      const errors = given.volumeClaimTemplate
        ? claimTemplate(given.volumeClaimTemplate, `${at}.volumeClaimTemplate`)
        : [required(`${at}.volumeClaimTemplate`)];
      if (!meta?.name || !name) return errors;
      const claim = `${meta.name}-${name}`;
      const texts = dns1123Subdomain(claim).map((text) => `PVC name ${JSON.stringify(claim)}: ${text}`);
      return [...errors, ...problems(`${path}.name`, name, texts)];
    }
    default:
      return podSources[type]!(given, at);
  }
}

function volumeSource(volume: Part, path: string, context: VolumeContext): FieldError[] {
  const errors: FieldError[] = [];
  let found = false;
  for (const type of order) {
    const given = volume[type];
    if (given === undefined || given === null) continue;
    if (found) errors.push(fieldForbidden(`${path}.${spellings[type]?.whenSecond ?? type}`, 'may not specify more than 1 volume type'));
    else errors.push(...source(type, given, volume, path, `${path}.${spellings[type]?.within ?? type}`, context));
    if (type === 'iscsi' && given.initiatorName !== undefined && `${volume.name ?? ''}:${given.targetPortal ?? ''}`.length > 64)
      errors.push(
        invalid(
          `${path}.name`,
          volume.name ?? '',
          'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
        ),
      );
    found = true;
  }
  return found ? errors : [required(path, 'must specify a volume type')];
}

/** The errors of all volumes, and the volumes without an error by name: mounts may only refer to those. */
export function validateVolumes(given: Part, path: string, context: VolumeContext): [FieldError[], Map<string, Part>] {
  const errors: FieldError[] = [];
  const valid = new Map<string, Part>();
  const volumes = list(given);
  const claims = new Set(
    context.meta?.name ? volumes.filter((volume) => volume.ephemeral).map((volume) => `${context.meta!.name}-${volume.name}`) : [],
  );
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const name: string = volume.name ?? '';
    const own = volumeSource(volume, at, context);
    own.push(...(name ? label(name, `${at}.name`) : [required(`${at}.name`)]));
    if (valid.has(name)) own.push(duplicate(`${at}.name`, name));
    if (own.length) errors.push(...own);
    else valid.set(name, volume);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claims.has(claim))
      errors.push(
        invalid(`${at}.persistentVolumeClaim.claimName`, claim, 'must not reference a PVC that gets created for an ephemeral volume'),
      );
  }
  return [errors, valid];
}
