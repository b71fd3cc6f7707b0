/** Pods: their number, and what they ask for and are limited to. Those that have ended or hang on past their grace only count as stored. */

import {entries, list, type Part} from '../../kinds/common/loose.ts';
import {isStandardPodLevel, podTotals} from '../../kinds/common/pod-resources.ts';
import {qosClass} from '../../kinds/common/qos.ts';
import {printQuantity} from '../../kinds/common/quantity.ts';
import {isExtended, isHugePages, isNative} from '../../kinds/common/resources.ts';
import type {KubeObject} from '../../object.ts';
import {type Evaluator, matchesScope, type ScopeRequirement} from './evaluator.ts';
import type {Quantities} from './quantities.ts';

const count = 'count/pods';
const computed = ['cpu', 'memory', 'ephemeral-storage'];
const measured = new Set([count, 'pods', ...computed, ...computed.flatMap((name) => [`requests.${name}`, `limits.${name}`])]);
/** A limit on one of these asks each container for a number; later resources do without. */
const demanded = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/';

export const isExtendedLimit = (name: string): boolean =>
  name.startsWith('requests.') && (!isNative(name) || name.startsWith(`requests.${deviceClassPrefix}`));

export const podEvaluator: Evaluator = {
  handles({operation, subresource, object, old}) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    return operation === 'CREATE' || (operation === 'UPDATE' && isTerminating(object!) !== isTerminating(old!));
  },
  measures: (name) => measured.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedLimit(name),
  usage: podUsage,
  isInScope,
  missing,
};

export function podUsage(pod: KubeObject, now: number): Quantities {
  if (hasEnded(pod, now)) return {[count]: '1'};
  const [requests, limits] = (['requests', 'limits'] as const).map((kind) =>
    Object.fromEntries([...podTotals(pod, kind)].map(([name, {amount, like}]) => [name, printQuantity(amount, like)])),
  );
  return {[count]: '1', ...usageNames(requests!, limits!)};
}

/** The names under which quotas know what is asked for. */
function usageNames(requests: Quantities, limits: Quantities): Quantities {
  const usage: Record<string, string> = {pods: '1'};
  for (const [name, amount] of entries(requests)) {
    const isComputed = computed.includes(name);
    if (isComputed || isHugePages(name)) usage[name] = amount;
    if (isComputed || isHugePages(name) || isExtended(name) || name.startsWith(deviceClassPrefix)) usage[`requests.${name}`] = amount;
  }
  for (const [name, amount] of entries(limits)) if (computed.includes(name)) usage[`limits.${name}`] = amount;
  return usage;
}

const isTerminating = ({spec}: KubeObject): boolean => Number(spec?.activeDeadlineSeconds ?? -1) >= 0;

function hasEnded({metadata, status}: KubeObject, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const {deletionTimestamp, deletionGracePeriodSeconds} = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function isInScope(pod: KubeObject, scope: ScopeRequirement): boolean {
  const isBestEffort = (): boolean => (pod.status?.qosClass || qosClass(pod.spec)) === 'BestEffort';
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort();
    case 'NotBestEffort':
      return !isBestEffort();
    case 'PriorityClass':
      return matchesScope(scope, (pod.spec?.priorityClassName as string) || undefined);
    case 'CrossNamespacePodAffinity':
      return looksBeyond(pod.spec?.affinity);
    default:
      return false;
  }
}

/** Whether its affinity has to do with pods of other namespaces. */
function looksBeyond(affinity: Part): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((part) => [
    ...list(part?.requiredDuringSchedulingIgnoredDuringExecution),
    ...list(part?.preferredDuringSchedulingIgnoredDuringExecution).map(({podAffinityTerm}) => podAffinityTerm),
  ]);
  return terms.some((term) => list(term?.namespaces).length > 0 || (term?.namespaceSelector ?? undefined) !== undefined);
}

function missing({spec}: KubeObject, limits: readonly string[]): string | undefined {
  // Who speaks for the whole pod need not speak for each container.
  const {requests, limits: bounds}: Part = spec?.resources ?? {};
  if ([...entries(requests), ...entries(bounds)].some(([name]) => isStandardPodLevel(name))) return undefined;
  const silent = limits
    .filter((name) => demanded.has(name))
    .sort()
    .map((name) => ({name, containers: silentContainers(spec, name)}))
    .filter(({containers}) => containers.length > 0);
  return silent.length > 0
    ? `must specify ${silent.map(({name, containers}) => `${name} for: ${containers.join(',')}`).join('; ')}`
    : undefined;
}

function silentContainers(spec: Part, limit: string): string[] {
  const names = [...list(spec?.containers), ...list(spec?.initContainers)]
    .filter(({resources}) => !Object.hasOwn(usageNames(resources?.requests ?? {}, resources?.limits ?? {}), limit))
    .map(({name}) => name as string);
  return [...new Set(names)].sort();
}
