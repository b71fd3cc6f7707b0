/** Pieces of cells that many kinds share: ages, containers, labels, selectors, shortened lists. */
import type {KubeObject} from '../../object.ts';
import {humanDuration} from './human-duration.ts';
import type {LabelSelector} from './labels.ts';
import {entries, list, type Part} from './loose.ts';

export const none = '<none>';
export const unset = '<unset>';
export const unknown = '<unknown>';

export const nameOf = (object: KubeObject): string => object.metadata.name ?? '';
export const ageOf = (object: KubeObject, now: number): string => since(object.metadata.creationTimestamp, now);

/** Time since a timestamp of the wire. */
export const since = (timestamp: string | null | undefined, now: number): string =>
  timestamp ? humanDuration(now - Date.parse(timestamp)) : unknown;

export const containerNames = (spec: Part): string =>
  list(spec?.containers)
    .map((container) => container.name)
    .join(',');
export const containerImages = (spec: Part): string =>
  list(spec?.containers)
    .map((container) => container.image ?? '')
    .join(',');

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
export const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => byText(a, b);

/** `a=1,b=2`, or `<none>`. In the order of the pairs as text: `a.b=1` goes before `a=1`. */
export const labelsText = (labels: Record<string, string> | undefined): string =>
  entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort(byText)
    .join(',') || none;

/** A selector as a query would have it; undefined when it is no valid one. */
export function selectorText(selector: LabelSelector | null | undefined): string | undefined {
  const requirements: [string, string][] = entries(selector?.matchLabels).map(([key, value]) => [key, `${key}=${value}`]);
  for (const {key, operator, values} of list(selector?.matchExpressions)) {
    const among = `(${[...list(values)].sort(byText).join(',')})`;
    if (operator === 'In') requirements.push([key, `${key} in ${among}`]);
    else if (operator === 'NotIn') requirements.push([key, `${key} notin ${among}`]);
    else if (operator === 'Exists') requirements.push([key, key]);
    else if (operator === 'DoesNotExist') requirements.push([key, `!${key}`]);
    else return undefined;
  }
  return requirements
    .sort(byKey)
    .map(([, words]) => words)
    .join(',');
}

export const selectorOrNone = (selector: LabelSelector | null | undefined): string => {
  const words = selectorText(selector);
  return words === undefined ? '<error>' : words || none;
};

/** The first three, and how many more there are. */
export function shortened(items: readonly string[], most = 3): string {
  const shown = items.slice(0, most).join(',');
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** Addresses of a load balancer, each once. */
export const loadBalancerText = (status: Part): string =>
  [...new Set<string>(list(status?.loadBalancer?.ingress).flatMap(({ip, hostname}) => ip || hostname || []))].sort(byText).join(',');

/** A quantity as it is served. */
export const quantity = (value: Part): string => String(value ?? '0');

const accessModeNames = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;
export const accessModes = (modes: Part): string =>
  accessModeNames
    .filter(([mode]) => list(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');

/** The annotation is older than the field, and wins. */
export const storageClassOf = (object: KubeObject): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? object.spec?.storageClassName ?? '';

export const isTrue = (conditions: Part, type: string): boolean =>
  list(conditions).find((condition) => condition.type === type)?.status === 'True';
