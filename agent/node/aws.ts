/** What an EC2 instance says of itself, as a node is described by it: name, provider id, place, kind, addresses. */
import {isIP} from 'node:net';
import type {MetadataService} from './metadata-service.ts';
import {MetadataError} from './metadata-service.ts';

export interface Address {
  type: string;
  address: string;
}

export interface Instance {
  /** Its private DNS name. */
  name: string;
  providerId: string;
  labels: Record<string, string>;
  addresses: Address[];
}

type Source = Pick<MetadataService, 'get'>;

const labelValue = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** @throws MetadataError for a service that cannot be asked, or whose answers are no instance's */
export async function describeInstance(source: Source): Promise<Instance> {
  const [id, zone, type, region] = await Promise.all([
    need(source, 'instance-id', /^i-[0-9a-f]+$/),
    need(source, 'placement/availability-zone', labelValue),
    need(source, 'instance-type', labelValue),
    source.get('placement/region'),
  ]);
  const place = region && labelValue.test(region) ? region : regionOf(zone);
  const addresses = await addressesOf(source);
  const name = addresses.find(({type}) => type === 'InternalDNS')?.address ?? '';
  if (!dnsName.test(name) || name.length > 253)
    throw new MetadataError(`the instance's private name ${JSON.stringify(name)} cannot be a node's`);
  return {name, providerId: `aws:///${zone}/${id}`, labels: labelsOf(type, zone, place), addresses};
}

/** They change while the instance runs: public ones come and go, interfaces are attached. */
export async function addressesOf(source: Source): Promise<Address[]> {
  const [names, publicName, publicIp, primary, interfaces] = await Promise.all([
    source.get('local-hostname'),
    source.get('public-hostname'),
    source.get('public-ipv4'),
    source.get('local-ipv4'),
    interfaceAddresses(source),
  ]);
  const internal = new Set([primary ?? '', ...interfaces].filter((ip) => isIP(ip) > 0));
  if (internal.size === 0) throw new MetadataError('the instance metadata service names no address of this instance');
  // A network with a domain of its own gives several names; the first is the instance's.
  const [name] = (names ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return [
    ...[...internal].map((address) => ({type: 'InternalIP', address})),
    ...(publicIp && isIP(publicIp) ? [{type: 'ExternalIP', address: publicIp}] : []),
    ...(name
      ? [
          {type: 'InternalDNS', address: name},
          {type: 'Hostname', address: name},
        ]
      : []),
    ...(publicName && dnsName.test(publicName) ? [{type: 'ExternalDNS', address: publicName}] : []),
  ];
}

/** Of all interfaces, the first to be attached first; IPv4 before IPv6. */
async function interfaceAddresses(source: Source): Promise<string[]> {
  const macs = linesOf(await source.get('network/interfaces/macs/')).map((line) => line.replace(/\/$/, ''));
  const cards = await Promise.all(
    macs
      .filter((mac) => /^[0-9a-f:]+$/i.test(mac))
      .map(async (mac) => {
        const of = (what: string) => source.get(`network/interfaces/macs/${mac}/${what}`);
        const [number, v4, v6] = await Promise.all([of('device-number'), of('local-ipv4s'), of('ipv6s')]);
        return {number: Number(number ?? 0), v4: linesOf(v4), v6: linesOf(v6)};
      }),
  );
  cards.sort((a, b) => a.number - b.number);
  return [...cards.flatMap(({v4}) => v4), ...cards.flatMap(({v6}) => v6)];
}

const labelsOf = (type: string, zone: string, region: string): Record<string, string> => ({
  'beta.kubernetes.io/instance-type': type,
  'node.kubernetes.io/instance-type': type,
  'failure-domain.beta.kubernetes.io/zone': zone,
  'failure-domain.beta.kubernetes.io/region': region,
  'topology.kubernetes.io/zone': zone,
  'topology.kubernetes.io/region': region,
});

/** `eu-west-1a` lies in `eu-west-1`, `us-west-2-lax-1a` in `us-west-2`. */
const regionOf = (zone: string): string => /^[a-z]+(?:-[a-z]+)+-\d+/.exec(zone)?.[0] ?? zone;

const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

async function need(source: Source, path: string, shape: RegExp): Promise<string> {
  const text = await source.get(path);
  if (text === undefined || !shape.test(text))
    throw new MetadataError(`the instance metadata service gives no usable ${path}: ${JSON.stringify(text?.slice(0, 100))}`);
  return text;
}
