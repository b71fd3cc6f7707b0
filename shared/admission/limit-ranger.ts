/** Limits of a namespace: containers that say nothing get its defaults, what is out of bounds is refused. */

import {entries, list, type Part} from '../kinds/common/loose.ts';
import {type Amounts, containerTotals} from '../kinds/common/pod-resources.ts';
import {nanos, printQuantity} from '../kinds/common/quantity.ts';
import type {KubeObject} from '../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

const annotation = 'kubernetes.io/limit-ranger';

export const limitRanger: Plugin = {
  name: 'LimitRanger',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods', 'persistentvolumeclaims'],
  subresources: ['resize'],
  async mutate(attributes, lookups) {
    if (attributes.object?.kind !== 'Pod') return;
    for (const range of await rangesFor(attributes, lookups)) setDefaults(attributes.object, limitsOf(range));
  },
  async validate(attributes, lookups) {
    for (const range of await rangesFor(attributes, lookups)) {
      const problems = limitsOf(range).flatMap((limit) => check(attributes.object!, limit));
      if (problems.length) throw refuse(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
    }
  },
};

const limitsOf = ({spec}: KubeObject): Part[] => list(spec?.limits);

async function rangesFor(attributes: AdmissionAttributes, lookups: Lookups): Promise<readonly KubeObject[]> {
  const {operation, object, old, subresource, namespace} = attributes;
  // A pod's resources only change through its resize endpoint; what is being deleted may be finished in peace.
  const skipped = object?.kind === 'Pod' && operation === 'UPDATE' && subresource !== 'resize';
  if (!object || skipped || (object.kind !== 'Pod' && subresource !== '') || old?.metadata.deletionTimestamp) return [];
  return lookups.limitRanges(namespace);
}

function setDefaults(pod: KubeObject, limits: Part[]): void {
  const ofContainers = limits.filter(({type}) => type === 'Container');
  const defaults = {
    requests: Object.assign({}, ...ofContainers.map(({defaultRequest}) => defaultRequest)),
    limits: Object.assign({}, ...ofContainers.map((limit) => limit.default)),
  };
  const done: string[] = [];
  for (const [field, sort] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const)
    for (const container of list(pod.spec?.[field]))
      for (const [kind, word] of [
        ['requests', 'request'],
        ['limits', 'limit'],
      ] as const) {
        const names = Object.keys(defaults[kind]).filter((name) => container.resources?.[kind]?.[name] === undefined);
        if (!names.length) continue;
        container.resources ??= {};
        container.resources[kind] = {
          ...container.resources[kind],
          ...Object.fromEntries(names.map((name) => [name, defaults[kind][name]])),
        };
        done.push(`${names.sort().join(', ')} ${word} for ${sort} ${container.name}`);
      }
  if (done.length) pod.metadata.annotations = {...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${done.join('; ')}`};
}

const sums = (given: Part): Amounts => new Map(entries(given).map(([name, value]) => [name, {amount: nanos(value), like: value}]));

function check(object: KubeObject, limit: Part): string[] {
  const {spec} = object;
  if (object.kind === 'PersistentVolumeClaim')
    return limit.type === 'PersistentVolumeClaim' ? claimProblems(limit, sums(spec?.resources?.requests)) : [];
  if (limit.type === 'Container')
    return [...list(spec?.containers), ...list(spec?.initContainers)].flatMap(({resources}) =>
      problems(limit, sums(resources?.requests), sums(resources?.limits)),
    );
  if (limit.type !== 'Pod') return [];
  const [requests, limits] = (['requests', 'limits'] as const).map((kind) => {
    const total = containerTotals(spec, kind);
    for (const name of ['cpu', 'memory']) {
      const own = spec?.resources?.[kind]?.[name];
      if (own !== undefined) total.set(name, {amount: nanos(own), like: own});
    }
    return total;
  });
  return problems(limit, requests!, limits!);
}

const print = (amounts: Amounts, name: string): string => {
  const {amount, like} = amounts.get(name)!;
  return printQuantity(amount, like);
};

function problems(limit: Part, requests: Amounts, limits: Amounts): string[] {
  const texts: string[] = [];
  const per = (name: string): string => `${name} usage per ${limit.type}`;
  for (const [name, min] of entries(limit.min)) {
    const least = `minimum ${per(name)} is ${min}`;
    if (!requests.has(name)) texts.push(`${least}.  No request is specified`);
    else if (requests.get(name)!.amount < nanos(min)) texts.push(`${least}, but request is ${print(requests, name)}`);
    else if (limits.has(name) && limits.get(name)!.amount < nanos(min)) texts.push(`${least}, but limit is ${print(limits, name)}`);
  }
  for (const [name, max] of entries(limit.max)) {
    const most = `maximum ${per(name)} is ${max}`;
    if (!limits.has(name)) texts.push(`${most}.  No limit is specified`);
    else if (limits.get(name)!.amount > nanos(max)) texts.push(`${most}, but limit is ${print(limits, name)}`);
    else if (requests.has(name) && requests.get(name)!.amount > nanos(max)) texts.push(`${most}, but request is ${print(requests, name)}`);
  }
  for (const [name, ratio] of entries(limit.maxLimitRequestRatio)) {
    const most = `${name} max limit to request ratio per ${limit.type} is ${ratio}`;
    const [asked, bound] = [requests.get(name)?.amount ?? 0n, limits.get(name)?.amount ?? 0n];
    if (asked === 0n) texts.push(`${most}, but no request is specified or request is 0`);
    else if (bound === 0n) texts.push(`${most}, but no limit is specified or limit is 0`);
    else if (Number(bound) / Number(asked) > Number(nanos(ratio)) / 1e9)
      texts.push(`${most}, but provided ratio is ${(Number(bound) / Number(asked)).toFixed(6)}`);
  }
  return texts;
}

function claimProblems(limit: Part, requests: Amounts): string[] {
  const texts: string[] = [];
  for (const [name, min] of entries(limit.min)) {
    const least = `minimum ${name} usage per ${limit.type} is ${min}`;
    if (!requests.has(name)) texts.push(`${least}.  No request is specified`);
    else if (requests.get(name)!.amount < nanos(min)) texts.push(`${least}, but request is ${print(requests, name)}`);
  }
  for (const [name, max] of entries(limit.max)) {
    const most = `maximum ${name} usage per ${limit.type} is ${max}`;
    if (!requests.has(name)) texts.push(`${most}.  No request is specified`);
    else if (requests.get(name)!.amount > nanos(max)) texts.push(`${most}, but request is ${print(requests, name)}`);
  }
  return texts;
}
