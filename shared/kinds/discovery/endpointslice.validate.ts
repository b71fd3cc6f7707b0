/** Whether an endpoint slice is well formed: addresses of one type, which stays. Endpoints that are not, but do not change, may stay too. */
import {duplicate, type FieldError, invalid, notSupported, required, tooMany} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, legacyIp, problems, qualified, subdomain} from '../common/checks.ts';
import {hostDomain} from '../common/domains.ts';
import {sameJson} from '../common/equal.ts';
import {endpointIp, ipFamily, ipProblems} from '../common/ip.ts';
import {validateLabels} from '../common/labels.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {validLabelValue} from '../common/names.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxTopologyLabels = 16;
const maxHints = 8;

export const validateEndpointSlice = (object: KubeObject): FieldError[] => validate(object);

function validate(object: KubeObject, old?: KubeObject): FieldError[] {
  const {addressType = ''} = object;
  const endpoints = validateEndpoints(list(object.endpoints), addressType);
  const areKept = old !== undefined && sameJson(object.endpoints, old.endpoints);
  return [
    ...(!addressType
      ? [required('addressType')]
      : addressTypes.includes(addressType)
        ? []
        : [notSupported('addressType', addressType, addressTypes)]),
    ...validatePorts(list(object.ports)),
    ...(areKept ? [] : endpoints),
  ];
}

export const validateEndpointSliceUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validate(object, old),
  ...validateImmutable(object.addressType, old.addressType, 'addressType'),
];

function validatePorts(ports: Part[]): FieldError[] {
  if (ports.length > maxPorts) return [tooMany('ports', ports.length, maxPorts)];
  const names = new Set<string>();
  return ports.flatMap(({name = '', protocol, appProtocol}, index) => {
    const path = `ports[${index}]`;
    const errors = name ? label(name, `${path}.name`) : [];
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    if (protocol === undefined) errors.push(required(`${path}.protocol`));
    else if (!protocols.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, protocols));
    return appProtocol === undefined ? errors : [...errors, ...qualified(appProtocol, `${path}.appProtocol`)];
  });
}

function validateEndpoints(endpoints: Part[], type: string): FieldError[] {
  if (endpoints.length > maxEndpoints) return [tooMany('endpoints', endpoints.length, maxEndpoints)];
  return endpoints.flatMap((endpoint, index) => validateEndpoint(endpoint, `endpoints[${index}]`, type));
}

function validateEndpoint(
  {addresses: given, nodeName, deprecatedTopology, hostname, hints}: Part,
  path: string,
  type: string,
): FieldError[] {
  const addresses: string[] = list(given);
  const at = `${path}.addresses`;
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'));
  else if (addresses.length > maxAddresses) errors.push(tooMany(at, addresses.length, maxAddresses));
  for (const [index, address] of addresses.entries()) errors.push(...validateAddress(address, at, index, type));
  if (nodeName !== undefined) errors.push(...subdomain(nodeName, `${path}.nodeName`));
  const labels = entries(deprecatedTopology).length;
  if (labels > maxTopologyLabels) errors.push(tooMany(`${path}.deprecatedTopology`, labels, maxTopologyLabels));
  errors.push(...validateLabels(deprecatedTopology, `${path}.deprecatedTopology`));
  if (hostname !== undefined) errors.push(...label(hostname, `${path}.hostname`));
  return hints ? [...errors, ...validateHints(hints, `${path}.hints`)] : errors;
}

function validateAddress(address: string, path: string, index: number, type: string): FieldError[] {
  const at = `${path}[${index}]`;
  if (type === 'FQDN') return hostDomain(address, at);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? legacyIp(address, at) : problems(at, address, ipProblems(address));
  if (errors.length) return errors;
  const isOther = ipFamily(address) !== type;
  return [...(isOther ? [invalid(path, address, `must be an ${type} address`)] : []), ...problems(at, address, endpointIp(address))];
}

function validateHints({forZones, forNodes}: Part, path: string): FieldError[] {
  const named = (given: Part, field: string, check: (name: string, at: string) => FieldError[]): FieldError[] | undefined => {
    const items = list(given);
    if (items.length > maxHints) return undefined;
    const seen = new Set<string>();
    return items.flatMap(({name = ''}, index) => {
      const at = `${path}.${field}[${index}].name`;
      const errors = seen.has(name) ? [duplicate(at, name)] : [];
      seen.add(name);
      return [...errors, ...check(name, at)];
    });
  };
  const zones = named(forZones, 'forZones', (name, at) => problems(at, name, validLabelValue(name)));
  if (!zones) return [tooMany(`${path}.forZones`, list(forZones).length, maxHints)];
  const nodes = named(forNodes, 'forNodes', subdomain);
  return [...zones, ...(nodes ?? [tooMany(`${path}.forNodes`, list(forNodes).length, maxHints)])];
}
