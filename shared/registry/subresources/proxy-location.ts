/** Where the `proxy` of a pod, a service or a node leads: `name`, `name:port` or `scheme:name:port`, looked up as the reference does. */
import {badRequest, notFound, serviceUnavailable} from '../../errors.ts';
import {addressOf, isGlobalUnicast} from '../../nodes/address.ts';
import type {Destination} from '../../nodes/roads.ts';
import type {KubeObject} from '../../object.ts';
import type {Machine, RequestContext} from '../context.ts';
import {decodeImage} from '../encode.ts';

export interface Location {
  node: KubeObject | undefined;
  to: Destination;
  /** Spoken inside of the road; the road to an agent is as safe as it has to be. */
  tls: boolean;
  /** As the URL of what is reached names it. */
  host: string;
}

/** @throws StatusError 400, 404, 503 */
export function locate(context: RequestContext): Promise<Location> {
  const {resource} = context.resource;
  const asked = splitName(context.info.name);
  if (!asked) throw badRequest(`invalid ${resource.slice(0, -1)} request ${JSON.stringify(context.info.name)}`);
  if (resource === 'pods') return podLocation(context, asked);
  return resource === 'services' ? serviceLocation(context, asked) : nodeLocation(context, asked);
}

interface Asked {
  scheme: string;
  name: string;
  port: string;
}

function splitName(id: string): Asked | undefined {
  const parts = id.split(':');
  const [scheme, name, port] = parts.length === 1 ? ['', ...parts, ''] : parts.length === 2 ? ['', ...parts] : parts;
  if (parts.length > 3 || !name || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) return undefined;
  return {scheme: scheme!, name, port: port!};
}

async function podLocation({machine, info}: RequestContext, {scheme, name, port}: Asked): Promise<Location> {
  const pod = await stored(machine, 'pods', info.namespace, name);
  if (!pod) throw notFound({group: '', resource: 'pods'}, name);
  const declared = (pod.spec.containers as {ports?: {containerPort: number}[]}[]).find(({ports}) => ports?.length)?.ports?.[0]
    ?.containerPort;
  const address: string = pod.status?.podIPs?.[0]?.ip ?? '';
  // What a pod's status says is its writer's choice: it must not lead back to this machine.
  if (!isGlobalUnicast(address)) throw badRequest('address not allowed');
  return locationOf(machine, pod, scheme, address, port || (declared === undefined ? '' : String(declared)));
}

interface Address {
  ip: string;
  targetRef?: {kind?: string; namespace?: string; name?: string};
}

interface Subset {
  addresses?: Address[];
  ports?: {name?: string; port: number}[];
}

async function serviceLocation({machine, info}: RequestContext, {scheme, name, port}: Asked): Promise<Location> {
  let wanted = port;
  if (/^[+-]?\d+$/.test(port)) {
    const service = await stored(machine, 'services', info.namespace, name);
    if (!service) throw notFound({group: '', resource: 'services'}, name);
    const found = ((service.spec.ports ?? []) as {name?: string; port: number}[]).find((one) => one.port === Number(port));
    if (!found) throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
    wanted = found.name ?? '';
  }
  const subsets = await subsetsOf(machine, info.namespace, name);
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const {addresses = [], ports = []} of shuffled(subsets)) {
    const found = ports.find((one) => (one.name ?? '') === wanted);
    for (const address of found ? shuffled(addresses) : []) {
      // Only addresses that are pods: an endpoint by hand could lead anywhere.
      const pod = await podAt(machine, info.namespace, address);
      if (pod) return locationOf(machine, pod, scheme, address.ip, String(found!.port));
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(info.name)}`);
}

/** Of the service's Endpoints; where nobody makes those any more, of its slices. */
async function subsetsOf(machine: Machine, namespace: string, service: string): Promise<Subset[]> {
  const endpoints = await stored(machine, 'endpoints', namespace, service);
  if (endpoints) return (endpoints.subsets ?? []) as Subset[];
  const {items} = await machine.store.scan('endpointslices.discovery.k8s.io', {prefix: `${namespace}/`});
  const slices = items.map(({image}) => decodeImage(image)).filter(({metadata}) => metadata.labels?.[serviceNameLabel] === service);
  if (slices.length === 0) throw notFound({group: '', resource: 'services'}, service);
  type Endpoint = {addresses: string[]; conditions?: {ready?: boolean}; targetRef?: Address['targetRef']};
  return slices.map(({endpoints: all, ports}) => ({
    ports: (ports ?? []) as NonNullable<Subset['ports']>,
    addresses: ((all ?? []) as Endpoint[])
      .filter(({conditions}) => conditions?.ready !== false)
      .flatMap(({addresses, targetRef}) => addresses.map((ip) => ({ip, ...(targetRef && {targetRef})}))),
  }));
}

const serviceNameLabel = 'kubernetes.io/service-name';

async function podAt(machine: Machine, namespace: string, {ip, targetRef}: Address): Promise<KubeObject | undefined> {
  if (targetRef?.namespace !== namespace || !targetRef.name) return undefined;
  const pod = await stored(machine, 'pods', namespace, targetRef.name);
  const addresses: {ip: string}[] = pod?.status?.podIPs ?? [];
  return isGlobalUnicast(ip) && addresses.some((one) => one.ip === ip) ? pod : undefined;
}

async function nodeLocation({machine}: RequestContext, {scheme, name, port}: Asked): Promise<Location> {
  const node = await nodeOf(machine, name);
  const {host = '', port: own} = addressOf(node);
  if (port === '' || port === String(own)) return {node, to: 'agent', tls: false, host: joined(host, String(own))};
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  return {node, to: {host, port: portNumber(port, scheme)}, tls: scheme === 'https', host: joined(host, port)};
}

/** @throws StatusError 404 */
export async function nodeOf(machine: Machine, name: string): Promise<KubeObject> {
  const node = await machine.lookups.node(name);
  if (!node) throw notFound({group: '', resource: 'nodes'}, name);
  return node;
}

async function locationOf(machine: Machine, pod: KubeObject, scheme: string, address: string, port: string): Promise<Location> {
  const node = pod.spec.nodeName ? await machine.lookups.node(pod.spec.nodeName) : undefined;
  return {
    node,
    to: {host: address, port: portNumber(port, scheme)},
    tls: scheme === 'https',
    host: port === '' ? (address.includes(':') ? `[${address}]` : address) : joined(address, port),
  };
}

/** Of the two names that a URL's default port has: the rest of Go's list of services is nothing that people proxy to. */
function portNumber(port: string, scheme: string): number {
  if (port === '' || port === 'http' || port === 'https') return port === 'https' || (port === '' && scheme === 'https') ? 443 : 80;
  const number = Number(port);
  if (!/^\d+$/.test(port)) throw serviceUnavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`);
  if (number > 65_535) throw serviceUnavailable(`error trying to reach service: dial tcp: address ${port}: invalid port`);
  return number;
}

async function stored(machine: Machine, type: string, namespace: string, name: string): Promise<KubeObject | undefined> {
  const found = await machine.store.read(type, `${namespace}/${name}`);
  return found && decodeImage(found.image);
}

const joined = (host: string, port: string): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

function shuffled<T>(all: readonly T[]): T[] {
  const start = Math.floor(Math.random() * all.length);
  return [...all.slice(start), ...all.slice(0, start)];
}
