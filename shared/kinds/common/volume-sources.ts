/** The sources of volumes that pods and persistent volumes share, one check each. Projected and ephemeral ones are in volumes.ts. */
import {type FieldError, invalid, notSupported, required, tooLong} from '../../field-errors.ts';
import {among, label, need, problems, subdomain} from './checks.ts';
import {entries, list, type Part} from './loose.ts';
import {byteLength, dns1123Label, dns1123Subdomain, inRange} from './names.ts';
import {noBacksteps, unreservedPath} from './paths.ts';

export type SourceCheck = (source: Part, path: string) => FieldError[];

const fileModes = 'must be a number between 0 and 0777 (octal), both inclusive';

export const fileMode = (mode: number | undefined, path: string): FieldError[] =>
  mode !== undefined && (mode > 0o777 || mode < 0) ? [invalid(path, mode, fileModes)] : [];

export const keyToPath = (item: Part, path: string): FieldError[] => [
  ...need(item.key, `${path}.key`),
  ...need(item.path, `${path}.path`),
  ...unreservedPath(item.path ?? '', `${path}.path`),
  ...fileMode(item.mode, `${path}.mode`),
];

const needs =
  (...fields: string[]): SourceCheck =>
  (source, path) =>
    fields.flatMap((field) => need(Array.isArray(source[field]) ? source[field].length : source[field], `${path}.${field}`));

const files =
  (name: string): SourceCheck =>
  (source, path) => [
    ...need(source[name], `${path}.${name}`),
    ...fileMode(source.defaultMode, `${path}.defaultMode`),
    ...list(source.items).flatMap((item, index) => keyToPath(item, `${path}.items[${index}]`)),
  ];

const partition = (value: number | undefined, path: string): FieldError[] =>
  (value ?? 0) < 0 || (value ?? 0) > 255 ? [invalid(`${path}.partition`, value, inRange(1, 255))] : [];

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

const isQualified = (name: string): boolean =>
  name.startsWith('iqn')
    ? /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/.test(name)
    : name.startsWith('eui')
      ? /^eui.[A-Za-z0-9]{16}$/.test(name)
      : /^naa.[A-Za-z0-9]{32}$/.test(name);
const hasScheme = (name: string): boolean => /^(iqn|eui|naa)/.test(name);

/** `inPod`: persistent volumes have one wording less. */
export const iscsi =
  (inPod: boolean): SourceCheck =>
  (source, path) => {
    const wrong = inPod ? 'must be valid format starting with iqn, eui, or naa' : 'must be valid format';
    const name = (value: string, at: string): FieldError[] =>
      !hasScheme(value) ? [invalid(at, value, wrong)] : isQualified(value) ? [] : [invalid(at, value, 'must be valid format')];
    const lun = source.lun ?? 0;
    return [
      ...need(source.targetPortal, `${path}.targetPortal`),
      ...(source.iqn ? name(source.iqn, `${path}.iqn`) : [required(`${path}.iqn`)]),
      ...(lun < 0 || lun > 255 ? [invalid(`${path}.lun`, lun, inRange(0, 255))] : []),
      ...((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef ? [required(`${path}.secretRef`)] : []),
      ...(!inPod && source.secretRef ? need(source.secretRef.name, `${path}.secretRef.name`) : []),
      ...(source.initiatorName !== undefined ? name(source.initiatorName, `${path}.initiatorname`) : []),
    ];
  };

const fc: SourceCheck = ({targetWWNs, wwids, lun}, path) => {
  const errors: FieldError[] = [];
  const [names, ids] = [list(targetWWNs), list(wwids)];
  if (!names.length && !ids.length) errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  if (names.length && ids.length)
    errors.push(invalid(`${path}.targetWWNs`, names, 'targetWWNs and wwids can not be specified simultaneously'));
  if (names.length) {
    if (lun === undefined) errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'));
    else if (lun < 0 || lun > 255) errors.push(invalid(`${path}.lun`, lun, inRange(0, 255)));
  }
  return errors;
};

const quobyte: SourceCheck = ({registry = '', tenant = '', volume}, path) => {
  const words = 'must be a host:port pair or multiple pairs separated by commas';
  const errors: FieldError[] = [];
  if (!registry) errors.push(required(`${path}.registry`, words));
  else if (byteLength(tenant) >= 65) errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  else
    for (const pair of registry.split(','))
      if (!/^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair)) errors.push(invalid(`${path}.registry`, registry, words));
  return [...errors, ...need(volume, `${path}.volume`)];
};

const flocker: SourceCheck = ({datasetName = '', datasetUUID = ''}, path) => {
  const errors: FieldError[] = [];
  if (!datasetName && !datasetUUID) errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName && datasetUUID) errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (datasetName.includes('/')) errors.push(invalid(`${path}.datasetName`, datasetName, "must not contain '/'"));
  return errors;
};

const flexVolume: SourceCheck = (source, path) => [
  ...need(source.driver, `${path}.driver`),
  ...entries(source.options).flatMap(([key]) => {
    const domain = `.${(key.includes('/') ? key.slice(0, key.indexOf('/')) : key).toLowerCase()}`;
    return domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')
      ? [invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : [];
  }),
];

const managedDisk = ['/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'];
const blobDisk = ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'];

const azureDisk: SourceCheck = ({diskName, diskURI = '', cachingMode, kind}, path) => {
  const errors = [...need(diskName, `${path}.diskName`), ...need(diskURI, `${path}.diskURI`)];
  if (cachingMode !== undefined) errors.push(...among(cachingMode, ['None', 'ReadOnly', 'ReadWrite'], `${path}.cachingMode`));
  if (kind === undefined) return errors;
  errors.push(...among(kind, ['Dedicated', 'Managed', 'Shared'], `${path}.kind`));
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) errors.push(notSupported(`${path}.diskURI`, diskURI, managedDisk));
  if (kind !== 'Managed' && !diskURI.startsWith('https://')) errors.push(notSupported(`${path}.diskURI`, diskURI, blobDisk));
  return errors;
};

/** A reference to a secret: where volumes are not of a namespace it names one. */
const secretRef = (source: Part, path: string, namespaced: boolean): FieldError[] =>
  source.secretRef
    ? [
        ...need(source.secretRef.name, `${path}.secretRef.name`),
        ...(namespaced ? need(source.secretRef.namespace, `${path}.secretRef.namespace`) : []),
      ]
    : [];

const storageos =
  (namespaced: boolean): SourceCheck =>
  (source, path) => [
    ...(source.volumeName ? label(source.volumeName, `${path}.volumeName`) : [required(`${path}.volumeName`)]),
    ...(source.volumeNamespace ? label(source.volumeNamespace, `${path}.volumeNamespace`) : []),
    ...secretRef(source, path, namespaced),
  ];

export function csiDriverName(name: string, path: string): FieldError[] {
  if (!name) return [required(path)];
  return [...(byteLength(name) > 63 ? [tooLong(path, 63)] : []), ...problems(path, name, dns1123Subdomain(name.toLowerCase()))];
}

const csiInPod: SourceCheck = ({driver = '', nodePublishSecretRef: secret}, path) => {
  const errors = csiDriverName(driver, `${path}.driver`);
  if (!secret) return errors;
  if (!secret.name) return [...errors, required(`${path}.nodePublishSecretRef.name`)];
  return [...errors, ...problems(`${path}.name`, secret.name, dns1123Subdomain(secret.name))];
};

const csiPersistent: SourceCheck = (source, path) => [
  ...csiDriverName(source.driver ?? '', `${path}.driver`),
  ...need(source.volumeHandle, `${path}.volumeHandle`),
  ...['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'].flatMap((field) => {
    const reference = source[field];
    if (!reference) return [];
    return [
      ...(reference.name ? subdomain(reference.name, `${path}.${field}.name`) : [required(`${path}.${field}.name`)]),
      ...(reference.namespace ? label(reference.namespace, `${path}.${field}.namespace`) : [required(`${path}.${field}.namespace`)]),
    ];
  }),
];

const shared: Record<string, SourceCheck> = {
  hostPath: (source, path) => [
    ...(source.path ? noBacksteps(source.path, `${path}.path`) : [required(`${path}.path`)]),
    ...(source.path && source.type !== undefined ? among(source.type, hostPathTypes, `${path}.type`) : []),
  ],
  gcePersistentDisk: (source, path) => [...need(source.pdName, `${path}.pdName`), ...partition(source.partition, path)],
  awsElasticBlockStore: (source, path) => [...need(source.volumeID, `${path}.volumeID`), ...partition(source.partition, path)],
  nfs: (source, path) => [
    ...need(source.server, `${path}.server`),
    ...need(source.path, `${path}.path`),
    ...((source.path ?? '').startsWith('/') ? [] : [invalid(`${path}.path`, source.path ?? '', 'must be an absolute path')]),
  ],
  flocker,
  rbd: needs('monitors', 'image'),
  cephfs: needs('monitors'),
  quobyte,
  fc,
  flexVolume,
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk,
  scaleIO: needs('gateway', 'system', 'volumeName'),
};

export const podSources: Record<string, SourceCheck> = {
  ...shared,
  gitRepo: (source, path) => [
    ...need(source.repository, `${path}.repository`),
    ...((source.directory ?? '').startsWith('/') ? [invalid(`${path}.directory`, source.directory, 'must be a relative path')] : []),
    ...noBacksteps(source.directory ?? '', `${path}.directory`),
  ],
  secret: files('secretName'),
  configMap: files('name'),
  iscsi: iscsi(true),
  glusterfs: needs('endpoints', 'path'),
  persistentVolumeClaim: needs('claimName'),
  cinder: (source, path) => [...need(source.volumeID, `${path}.volumeID`), ...secretRef(source, path, false)],
  azureFile: needs('secretName', 'shareName'),
  storageos: storageos(false),
  csi: csiInPod,
};

export const persistentSources: Record<string, SourceCheck> = {
  ...shared,
  iscsi: iscsi(false),
  glusterfs(source, path) {
    const namespace = source.endpointsNamespace;
    const at = `${path}.endpointsNamespace`;
    return [
      ...needs('endpoints', 'path')(source, path),
      ...(namespace === ''
        ? [invalid(at, '', 'if the endpointnamespace is set, it must be a valid namespace name')]
        : namespace
          ? problems(at, namespace, dns1123Label(namespace))
          : []),
    ];
  },
  cinder: (source, path) => [...need(source.volumeID, `${path}.volumeID`), ...secretRef(source, path, true)],
  azureFile: (source, path) => [
    ...needs('secretName', 'shareName')(source, path),
    ...(source.secretNamespace === '' ? [required(`${path}.secretNamespace`)] : []),
  ],
  local: (source, path) => (source.path ? noBacksteps(source.path, `${path}.path`) : [required(`${path}.path`)]),
  storageos: storageos(true),
  csi: csiPersistent,
};
