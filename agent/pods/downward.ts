/** What a pod can be told about itself: fields by path, resources by name. Pure. */
import {parseQuantity} from '../../shared/schema/quantity.ts';
import {allContainers, type Container, type Pod, type ResourceFieldRef, type Resources} from './pod.ts';

export interface Surroundings {
  hostIps: readonly string[];
  podIps: readonly string[];
  /** Stands for limits that are not set. */
  allocatable: Resources;
}

/** @throws Error for a path that means nothing */
export function fieldValue(pod: Pod, path: string, {hostIps, podIps}: Surroundings): string {
  const {metadata, spec} = pod;
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2]!] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIps[0] ?? '';
    case 'status.hostIPs':
      return hostIps.join(',');
    case 'status.podIP':
      return podIps[0] ?? '';
    case 'status.podIPs':
      return podIps.join(',');
  }
  throw new Error(`unsupported fieldPath: ${path}`);
}

/** A line each, in order; values as Go quotes them. */
const formatMap = (map: Readonly<Record<string, string>> = {}): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');

/** In units of the divisor, rounded up. @throws Error for a container or resource that is not there */
export function resourceValue(pod: Pod, own: Container | undefined, ref: ResourceFieldRef, {allocatable}: Surroundings): string {
  const container = ref.containerName ? allContainers(pod).find(({name}) => name === ref.containerName) : own;
  if (!container) throw new Error(`container ${ref.containerName} not found`);
  const match = /^(limits|requests)\.(.+)$/.exec(ref.resource);
  if (!match) throw new Error(`unsupported container resource : ${ref.resource}`);
  const [, list, name] = match;
  const {limits, requests} = container.resources ?? {};
  const amount = list === 'limits' ? (limits?.[name!] ?? allocatable[name!]) : (requests?.[name!] ?? limits?.[name!]);
  return inUnitsOf(amount ?? '0', ref.divisor && ref.divisor !== '0' ? ref.divisor : '1');
}

function inUnitsOf(amount: string, divisor: string): string {
  const [whole, unit] = [parseQuantity(amount), parseQuantity(divisor)];
  if (!whole || !unit || unit.nanos === 0n) throw new Error(`no quantity: ${amount} / ${divisor}`);
  return String((whole.nanos + unit.nanos - 1n) / unit.nanos);
}
