/** What a claim got: the allocation, which stays as it is while there is one, who uses it, and what drivers tell of its devices. */
import {type FieldError, fieldForbidden, invalid, notSupported, required, tooLong, tooMany} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, problems} from '../common/checks.ts';
import {validateConditions} from '../common/conditions.ts';
import {sameJson} from '../common/equal.ts';
import {parseCidr, printIp} from '../common/ip.ts';
import {list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {byteLength} from '../common/names.ts';
import {nodeSelector} from '../common/scheduling.ts';
import {csiDriverName} from '../common/volume-sources.ts';
import {requestNames, validateReference, validateReferences} from './claim-spec.validate.ts';
import {validateList, validateSet} from './collections.validate.ts';
import {maxConfigurations, validateConfiguration, validateRaw} from './configuration.validate.ts';
import {poolName, shareId} from './names.validate.ts';
import {validateBindingConditions} from './taints.validate.ts';

const maxConsumers = 256;
const maxResults = 32;
const maxDeviceConditions = 8;
const maxDataBytes = 10 * 1024;
const maxInterfaceBytes = 256;
const maxHardwareBytes = 128;
const maxIps = 16;
const sources = ['FromClaim', 'FromClass'];

export function validateClaimStatus(object: KubeObject, old: KubeObject): FieldError[] {
  const [status, before] = [object.status ?? {}, old.status ?? {}];
  const {allocation} = status;
  const allocated = new Set<string>(list(allocation?.devices?.results).map(deviceKey));
  const path = 'status.reservedFor';
  const errors = [
    ...validateSet(status.reservedFor, maxConsumers, path, ({uid}) => uid ?? '', validateConsumer),
    ...validateSet(status.devices, Number.POSITIVE_INFINITY, 'status.devices', deviceId, (device, at) =>
      validateDevice(device, at, allocated),
    ),
  ];
  const consumers = list(status.reservedFor);
  if (consumers.length > 0 && !allocation) errors.push(fieldForbidden(path, 'may not be specified when `allocated` is not set'));
  const isNew = (consumer: Part): boolean => !list(before.reservedFor).some((other) => sameJson(other, consumer));
  if (allocation && object.metadata.deletionTimestamp && consumers.some(isNew))
    errors.push(fieldForbidden(path, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'));
  if (!allocation) return errors;
  if (!before.allocation) return [...errors, ...validateAllocation(allocation, requestNames(object.spec))];
  return sameJson(allocation, before.allocation) ? errors : [...errors, invalid('status.allocation', allocation, immutable)];
}

const deviceId = ({driver = '', pool = '', device = '', shareID}: Part) => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID ?? '',
});
const deviceKey = (device: Part): string => JSON.stringify(deviceId(device));

const validateConsumer = (consumer: Part, path: string): FieldError[] =>
  ['resource', 'name', 'uid'].flatMap((field) => (consumer[field] ? [] : [required(`${path}.${field}`)]));

function validateAllocation({devices, nodeSelector: nodes}: Part, names: ReadonlySet<string>): FieldError[] {
  const path = 'status.allocation';
  return [
    ...validateList(devices?.results, maxResults, `${path}.devices.results`, (result, at) => [
      ...validateReference(result.request ?? '', `${at}.request`, names),
      ...csiDriverName(result.driver ?? '', `${at}.driver`),
      ...poolName(result.pool ?? '', `${at}.pool`),
      ...label(result.device ?? '', `${at}.device`),
      ...validateBindingConditions(result, at),
      ...(result.shareID === undefined ? [] : shareId(result.shareID, `${at}.shareID`)),
    ]),
    // Of the class and of the claim.
    ...validateList(devices?.config, 2 * maxConfigurations, `${path}.devices.config`, (config, at) => [
      ...validateSource(config.source ?? '', `${at}.source`),
      ...validateReferences(config.requests, `${at}.requests`, names),
      ...validateConfiguration(config, at),
    ]),
    ...(nodes ? nodeSelector(nodes, `${path}.nodeSelector`) : []),
  ];
}

const validateSource = (source: string, path: string): FieldError[] =>
  sources.includes(source) ? [] : [source ? notSupported(path, source, sources) : required(path)];

function validateDevice(device: Part, path: string, allocated: ReadonlySet<string>): FieldError[] {
  const conditions = list(device.conditions);
  return [
    ...csiDriverName(device.driver ?? '', `${path}.driver`),
    ...poolName(device.pool ?? '', `${path}.pool`),
    ...label(device.device ?? '', `${path}.device`),
    ...(device.shareID === undefined ? [] : shareId(device.shareID, `${path}.shareID`)),
    ...(allocated.has(deviceKey(device)) ? [] : [invalid(path, deviceId(device), 'must be an allocated device in the claim')]),
    ...(conditions.length > maxDeviceConditions ? [tooMany(`${path}.conditions`, conditions.length, maxDeviceConditions)] : []),
    ...validateConditions(conditions, `${path}.conditions`),
    ...(device.data === undefined ? [] : validateRaw(device.data, `${path}.data`, maxDataBytes)),
    ...(device.networkData ? validateNetwork(device.networkData, `${path}.networkData`) : []),
  ];
}

const validateNetwork = ({interfaceName = '', hardwareAddress = '', ips}: Part, path: string): FieldError[] => [
  ...(byteLength(interfaceName) > maxInterfaceBytes ? [tooLong(`${path}.interfaceName`, maxInterfaceBytes)] : []),
  ...(byteLength(hardwareAddress) > maxHardwareBytes ? [tooLong(`${path}.hardwareAddress`, maxHardwareBytes)] : []),
  ...validateSet(
    ips,
    maxIps,
    `${path}.ips`,
    (ip) => ip,
    (ip, at) => problems(at, ip, interfaceAddress(ip)),
  ),
];

/** An address with the length of its network, bits beyond it included. */
function interfaceAddress(text: string): string[] {
  const block = parseCidr(text, true);
  if (!block) return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'];
  const canonical = `${printIp(block[0])}/${block[1]}`;
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}
