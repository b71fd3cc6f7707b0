/** Taints: which a node has by its conditions, and whether a pod tolerates them. Pure. */

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

interface Condition {
  type: string;
  status: string;
}

export const unschedulableTaint: Taint = {key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'};

const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: {False: 'node.kubernetes.io/not-ready', Unknown: 'node.kubernetes.io/unreachable'},
  MemoryPressure: {True: 'node.kubernetes.io/memory-pressure'},
  DiskPressure: {True: 'node.kubernetes.io/disk-pressure'},
  PIDPressure: {True: 'node.kubernetes.io/pid-pressure'},
  NetworkUnavailable: {True: 'node.kubernetes.io/network-unavailable'},
};

const conditionKeys = new Set([...Object.values(byCondition).flatMap((each) => Object.values(each)), unschedulableTaint.key]);

/**
 * What a node's taints should be: those that its conditions and its being cordoned call for, and all others that it has. A node that
 * never said how it is keeps what it was born with.
 */
export function taintsByCondition(taints: readonly Taint[], conditions: readonly Condition[], unschedulable: boolean): Taint[] {
  if (!conditions.some(({type}) => type === 'Ready')) return [...taints];
  const wanted = conditions.flatMap(({type, status}) => byCondition[type]?.[status] ?? []);
  if (unschedulable) wanted.push(unschedulableTaint.key);
  const isOurs = ({key, effect}: Taint): boolean => effect === 'NoSchedule' && conditionKeys.has(key);
  const kept = taints.filter((taint) => !isOurs(taint) || wanted.includes(taint.key));
  const missing = wanted.filter((key) => !kept.some((taint) => isOurs(taint) && taint.key === key));
  return [...kept, ...missing.map((key) => ({key, effect: 'NoSchedule'}))];
}

export const keepsAway = ({effect}: Taint): boolean => effect === 'NoSchedule' || effect === 'NoExecute';

export const tolerates = (tolerations: readonly Toleration[], taint: Taint): boolean =>
  tolerations.some(
    ({key, operator, value = '', effect}) =>
      (!effect || effect === taint.effect) &&
      (!key || key === taint.key) &&
      (operator === 'Exists' || ((!operator || operator === 'Equal') && value === (taint.value ?? ''))),
  );
