/** The quality of service that a pod gets, from what its containers ask for. Ephemeral containers cannot ask. */
import type {JsonObject} from '../../object.ts';
import {nanos} from './quantity.ts';

type Quantities = Record<string, unknown>;
interface Resources {
  requests?: Quantities;
  limits?: Quantities;
}

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const computed = ['cpu', 'memory'];

function add(sums: Map<string, bigint>, list: Quantities = {}): string[] {
  const found = computed.filter((name) => nanos(list[name]) > 0n);
  for (const name of found) sums.set(name, (sums.get(name) ?? 0n) + nanos(list[name]));
  return found;
}

export function qosClass(spec: JsonObject | undefined): QosClass {
  const requests = new Map<string, bigint>();
  const limits = new Map<string, bigint>();
  const sources: Resources[] = spec?.resources
    ? [spec.resources as Resources]
    : [...list(spec?.containers), ...list(spec?.initContainers)].map((container) => (container.resources ?? {}) as Resources);
  let allLimited = true;
  for (const {requests: asked, limits: bound} of sources) {
    add(requests, asked);
    if (add(limits, bound).length < computed.length) allLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const equal = requests.size === limits.size && [...requests].every(([name, value]) => limits.get(name) === value);
  return allLimited && equal ? 'Guaranteed' : 'Burstable';
}

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);
