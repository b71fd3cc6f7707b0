/**
 * ResourceQuota: what a namespace may use. A write that uses more is charged to each quota that has a say about it, before it happens, and
 * refused when that would be too much. Nothing is ever given back here: what goes, and what was charged in vain because the write failed
 * later, the quota controller finds when it counts anew.
 */
import type {KubeObject} from '../../object.ts';
import {type AdmissionAttributes, type Bill, type Plugin, refuse} from '../attributes.ts';
import {counter, countOf, type Evaluator, onWrite, type ScopeRequirement} from './evaluator.ts';
import {podEvaluator} from './pods.ts';
import {excess, only, over, print, type Quantities, same, sum, withoutZeros} from './quantities.ts';
import {claimEvaluator} from './resource-claims.ts';
import {serviceEvaluator} from './services.ts';
import {volumeClaimEvaluator} from './volume-claims.ts';

/** Types that use up more than their number. Some need to know more about the cluster. */
const evaluators: Readonly<Record<string, Evaluator>> = {
  'count/pods': podEvaluator,
  'count/services': serviceEvaluator,
  'count/persistentvolumeclaims': volumeClaimEvaluator,
};
const claims = 'count/resourceclaims.resource.k8s.io';

/** Not stored, or never counted. */
const ignored = new Set(['count/bindings', 'count/componentstatuses', 'count/events', 'count/events.events.k8s.io']);

export const resourceQuota: Plugin = {
  name: 'ResourceQuota',
  operations: ['CREATE', 'UPDATE'],
  validate(attributes, lookups) {
    const {namespace, resource} = attributes;
    const count = countOf(resource);
    if (namespace === '' || ignored.has(count) || resource.virtual) return;
    const known = evaluators[count] ?? counter(resource);
    const handles = count === claims ? onWrite(attributes) : known.handles(attributes);
    if (!handles) return;
    return attributes.charge?.(async () => {
      const evaluator = count === claims ? await claimEvaluator(attributes, lookups) : known;
      return (quotas) => billsFor(attributes, evaluator, quotas);
    });
  },
};

/** @throws StatusError 403 of the first quota that forbids the write. */
function billsFor(attributes: AdmissionAttributes, evaluator: Evaluator, quotas: readonly KubeObject[]): Bill[] {
  const {object, old, operation, subresource, now} = attributes;
  const concerned = quotas.filter((quota) => isFor(quota, evaluator, object!));
  for (const quota of concerned) {
    const limits = Object.keys(hardOf(quota)).filter(evaluator.measures).sort();
    const missing = evaluator.missing?.(object!, limits);
    if (missing) throw refuse(attributes, `failed quota: ${quota.metadata.name}: ${missing}`);
    if (!limits.every((name) => Object.hasOwn(usedOf(quota), name)))
      throw refuse(attributes, `status unknown for quota: ${quota.metadata.name}, resources: ${limits.join(',')}`);
  }
  if (concerned.length === 0) return [];
  const usage = evaluator.usage(object!, now);
  const growth = operation === 'UPDATE' ? excess(usage, evaluator.usage(old!, now)) : usage;
  const bills: Bill[] = [];
  for (const quota of concerned) {
    // What it did not concern before is new to it.
    const isKnown = operation === 'UPDATE' && isFor(quota, evaluator, old!);
    const [hard, used] = [hardOf(quota), usedOf(quota)];
    const requested = only(withoutZeros(isKnown ? growth : usage), hard);
    const total = sum(used, requested);
    const exceeded = over(only(total, requested), hard);
    // What a status tells has happened.
    if (subresource !== 'status' && Object.keys(exceeded).length > 0) {
      const [asked, before, limits] = [requested, used, hard].map((amounts) => print(only(amounts, exceeded)));
      throw refuse(attributes, `exceeded quota: ${quota.metadata.name}, requested: ${asked}, used: ${before}, limited: ${limits}`);
    }
    if (!same(total, used)) bills.push({quota, used: total});
  }
  return bills;
}

const hardOf = ({status}: KubeObject): Quantities => (status?.hard ?? {}) as Quantities;
const usedOf = ({status}: KubeObject): Quantities => (status?.used ?? {}) as Quantities;

/** A quota is for what all its scopes hold, if it limits anything that such objects use. */
function isFor(quota: KubeObject, evaluator: Evaluator, object: KubeObject): boolean {
  return (
    Object.keys(hardOf(quota)).some(evaluator.measures) && scopesOf(quota).every((scope) => evaluator.isInScope?.(object, scope) ?? false)
  );
}

function scopesOf({spec}: KubeObject): ScopeRequirement[] {
  const scopes = ((spec?.scopes ?? []) as string[]).map((scopeName) => ({scopeName, operator: 'Exists'}));
  const selector = spec?.scopeSelector as {matchExpressions?: ScopeRequirement[]} | undefined;
  return [...scopes, ...(selector?.matchExpressions ?? [])];
}
