/** From requests and limits to what the kernel is told: class of service, cgroup values, out-of-memory score. */
import {addQuantity, compareQuantity, parseQuantity, quantityUnits} from '../../shared/schema/quantity.ts';
import type {LinuxResources} from '../runtime/runtime.ts';
import type {Container, Pod, Resources} from './pod.ts';
import {isSidecar} from './pod.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'] as const;

/** Guaranteed: every container has equal requests and limits of both; BestEffort: none has any. */
export function qosClass({spec, status}: Pod): QosClass {
  // It never changes, and whoever made the pod had the whole picture.
  if (status?.qosClass) return status.qosClass as QosClass;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  let any = false;
  let guaranteed = true;
  for (const {resources} of containers) {
    for (const name of counted) {
      const limit = positive(resources?.limits?.[name]);
      const request = positive(resources?.requests?.[name]) ?? limit;
      if (limit || request) any = true;
      if (!limit || !request || compareQuantity(limit, request) !== 0) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

const positive = (quantity: string | undefined): string | undefined =>
  quantity !== undefined && (parseQuantity(quantity)?.nanos ?? 0n) > 0n ? quantity : undefined;

/** A limit stands for a request that is not there. */
export const requestOf = ({resources}: Container, name: string): string | undefined =>
  resources?.requests?.[name] ?? resources?.limits?.[name];

const minShares = 2;
const sharesPerCpu = 1024;
const minQuotaMicros = 1000;

/** In whole numbers: as a double 1.1 is a little more than 1100 thousandths. */
export const milliCpu = (quantity: string): number => count(((parseQuantity(quantity)?.nanos ?? 0n) + 999_999n) / 1_000_000n);
export const bytesOf = (quantity: string): number => count(quantityUnits(quantity));
/** More than any machine has is as much as can be counted: written out it must stay digits. */
const count = (amount: bigint): number => Number(amount > maxCount ? maxCount : amount);
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);
export const cpuShares = (milli: number): number =>
  milli === 0 ? minShares : Math.min(262_144, Math.max(minShares, Math.floor((milli * sharesPerCpu) / 1000)));
export const cpuQuota = (milli: number, periodMicros: number): number =>
  milli === 0 ? 0 : Math.max(minQuotaMicros, Math.floor((milli * periodMicros) / 1000));

export interface ResourceSettings {
  cfsQuota: boolean;
  cfsPeriodMicros: number;
  /** Of the machine, in bytes. */
  memoryBytes: number;
}

export function linuxResources(pod: Pod, container: Container, settings: ResourceSettings): LinuxResources {
  const {limits} = container.resources ?? {};
  const cpuRequest = requestOf(container, 'cpu');
  const result: LinuxResources = {
    cpuShares: cpuShares(cpuRequest ? milliCpu(cpuRequest) : 0),
    oomScoreAdj: oomScoreAdj(pod, container, settings.memoryBytes),
  };
  if (limits?.memory) result.memoryLimitInBytes = bytesOf(limits.memory);
  if (settings.cfsQuota && limits?.cpu) {
    result.cpuPeriod = settings.cfsPeriodMicros;
    result.cpuQuota = cpuQuota(milliCpu(limits.cpu), settings.cfsPeriodMicros);
  }
  const hugepages = Object.entries(limits ?? {}).filter(([name]) => name.startsWith('hugepages-'));
  if (hugepages.length > 0) result.hugepageLimits = hugepages.map(([name, limit]) => ({pageSize: pageSize(name), limit: bytesOf(limit)}));
  return result;
}

/** `hugepages-2Mi` is `2MB` to the kernel. */
const pageSize = (name: string): string => name.slice('hugepages-'.length).replace(/i$/, 'B');

export const nodeCritical = 'system-node-critical';
const guaranteedScore = -997;
const bestEffortScore = 1000;

/** The more of the machine a container asked for, the later it is killed. */
export function oomScoreAdj(pod: Pod, container: Container, memoryBytes: number): number {
  if (pod.spec.priorityClassName === nodeCritical) return guaranteedScore;
  const qos = qosClass(pod);
  if (qos === 'Guaranteed') return guaranteedScore;
  if (qos === 'BestEffort') return bestEffortScore;
  const requested = container.resources?.requests?.memory;
  const used = (container: Container) => bytesOf(container.resources?.requests?.memory ?? '0');
  let score = 1000 - Math.floor((1000 * (requested ? bytesOf(requested) : 0)) / memoryBytes);
  // A sidecar is not killed before the container that it serves.
  if (isSidecar(container) && pod.spec.initContainers?.includes(container)) {
    const smallest = Math.min(...pod.spec.containers.map(used));
    score = Math.min(score, 1000 - Math.floor((1000 * smallest) / memoryBytes));
  }
  if (score < 1000 + guaranteedScore) return 1000 + guaranteedScore;
  return score === bestEffortScore ? score - 1 : score;
}

/** What the pod as a whole asks for: its containers together, or its largest step on the way there. */
export function podRequests({spec}: Pod, pick: (container: Container) => Resources = effectiveRequests): Resources {
  let running = sum(spec.containers.map(pick));
  let sidecars: Resources = {};
  let largest: Resources = {};
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) {
      sidecars = sum([sidecars, pick(container)]);
      largest = maximum(largest, sidecars);
    } else largest = maximum(largest, sum([sidecars, pick(container)]));
  }
  running = maximum(sum([running, sidecars]), largest);
  return spec.overhead ? sum([running, spec.overhead]) : running;
}

const effectiveRequests = ({resources}: Container): Resources => ({...resources?.limits, ...resources?.requests});

/** Undefined for what one container leaves open: then the pod as a whole has no limit. */
export function podLimit({spec}: Pod, name: 'cpu' | 'memory'): string | undefined {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  if (containers.some(({resources}) => !positive(resources?.limits?.[name]))) return undefined;
  return podRequests({spec} as Pod, ({resources}) => resources?.limits ?? {})[name];
}

export function sum(lists: readonly Resources[]): Resources {
  const total: Resources = {};
  for (const list of lists)
    for (const [name, amount] of Object.entries(list)) total[name] = total[name] ? addQuantity(total[name], amount) : amount;
  return total;
}

function maximum(one: Resources, other: Resources): Resources {
  const result = {...one};
  for (const [name, amount] of Object.entries(other)) if (!result[name] || compareQuantity(amount, result[name]) > 0) result[name] = amount;
  return result;
}
