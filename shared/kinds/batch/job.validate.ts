/** Whether a job is well formed, and what of it may change while it runs. */
import {duplicate, type FieldError, goQuote, invalid, notSupported, required, tooLong, tooMany} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {quotable} from '../../schema/normalize.ts';
import {domainPrefixedPath, nonNegative, oneOf, qualified} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {internalForm, podFailurePolicyShape, successPolicyShape} from '../common/internal-form.ts';
import {isEmptySelector, selectorMatches, validateLabelSelector} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {byteLength, dns1123Label} from '../common/names.ts';
import {podTemplate} from '../common/pod-spec.ts';
import {isReadable} from '../common/workload.ts';
import {parseIndexes} from './indexes.ts';
import {validateJobStatus} from './job-status.validate.ts';

const maxIndexedParallelism = 100_000;
const maxFailedIndexes = 100_000;
/** Above this many completions, indexes with limits of their own cost so much that parallelism is bounded. */
const highCompletions = 100_000;
const highCompletionsBound = 10_000;

const isIndexed = (spec: Part): boolean => spec.completionMode === 'Indexed';

function indexed(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const {completions, parallelism, maxFailedIndexes: failed, backoffLimitPerIndex} = spec;
  const say = (field: string, value: unknown, words: string): void => {
    errors.push(invalid(`${path}.${field}`, value, words));
  };
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism > maxIndexedParallelism)
    say('parallelism', parallelism, `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`);
  if (completions !== undefined && failed > completions) say('maxFailedIndexes', failed, 'must be less than or equal to completions');
  if (failed > maxFailedIndexes) say('maxFailedIndexes', failed, `must be less than or equal to ${maxFailedIndexes}`);
  if (completions > highCompletions && backoffLimitPerIndex !== undefined) {
    const words = `must be less than or equal to ${highCompletionsBound} when completions are above ${highCompletions} and used with backoff limit per index`;
    if (failed === undefined)
      errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${highCompletions}`));
    if (parallelism > highCompletionsBound) say('parallelism', parallelism, words);
    if (failed > highCompletionsBound) say('maxFailedIndexes', failed, words);
  }
  return errors;
}

const quotedList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const statuses = ['False', 'True', 'Unknown'];

function failureRule(rule: Part, spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const {action, onExitCodes, onPodConditions} = rule;
  if (!action) errors.push(required(`${path}.action`, `valid values: ${quotedList(actions)}`));
  else if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined)
      errors.push(invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  } else errors.push(...oneOf(action, actions, `${path}.action`));
  const conditions = list(onPodConditions);
  if (onExitCodes) errors.push(...exitCodes(onExitCodes, spec, `${path}.onExitCodes`));
  if (conditions.length > 20) errors.push(tooMany(`${path}.onPodConditions`, conditions.length, 20));
  for (const [index, {type = '', status}] of conditions.entries()) {
    const at = `${path}.onPodConditions[${index}]`;
    errors.push(...qualified(type, `${at}.type`));
    if (!status) errors.push(required(`${at}.status`, `valid values: ${quotedList(statuses)}`));
    else errors.push(...oneOf(status, statuses, `${at}.status`));
  }
  const whole = (words: string): FieldError => ({type: 'FieldValueInvalid', field: path, message: `Invalid value: ${words}`});
  if (onExitCodes && conditions.length) errors.push(whole('specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!onExitCodes && !conditions.length) errors.push(whole('specifying one of OnExitCodes and OnPodConditions is required'));
  return errors;
}

function exitCodes(requirement: Part, spec: Part, path: string): FieldError[] {
  const {operator, containerName, values: given} = requirement;
  const errors: FieldError[] = [];
  const values: number[] = list(given);
  if (!operator) errors.push(required(`${path}.operator`, `valid values: ${quotedList(['In', 'NotIn'])}`));
  else errors.push(...oneOf(operator, ['In', 'NotIn'], `${path}.operator`));
  const pod = spec.template?.spec ?? {};
  const containers = [...list(pod.containers), ...list(pod.initContainers)];
  if (containerName !== undefined && !containers.some(({name}) => name === containerName))
    errors.push(invalid(`${path}.containerName`, containerName, 'must be one of the container or initContainer names in the pod template'));
  if (!values.length) errors.push(invalid(`${path}.values`, quotable(requirement, 'values'), 'at least one value is required'));
  else if (values.length > 255) errors.push(tooMany(`${path}.values`, values.length, 255));
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    const at = `${path}.values[${index}]`;
    if (operator === 'In' && value === 0) errors.push(invalid(at, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) errors.push(duplicate(at, value));
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value))
    errors.push(invalid(`${path}.values`, values, 'must be ordered'));
  return errors;
}

function successPolicy({successPolicy: policy, completions = 0}: Part, path: string): FieldError[] {
  const rules = list(policy.rules);
  const errors: FieldError[] = [];
  if (!rules.length) errors.push(required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified'));
  if (rules.length > 20) errors.push(tooMany(`${path}.rules`, rules.length, 20));
  for (const [index, {succeededCount: count, succeededIndexes: indexes}] of rules.entries()) {
    const at = `${path}.rules[${index}]`;
    if (count === undefined && indexes === undefined)
      errors.push(required(at, 'at least one of succeededCount or succeededIndexes must be specified'));
    let total = 0;
    if (indexes !== undefined) {
      if (byteLength(indexes) > 64 * 1024) errors.push(tooLong(`${at}.succeededIndexes`, 64 * 1024));
      const parsed = parseIndexes(indexes, completions);
      if (typeof parsed === 'string') errors.push(invalid(`${at}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${parsed}`));
      else total = parsed;
    }
    if (count === undefined) continue;
    const field = `${at}.succeededCount`;
    errors.push(...nonNegative(count, field));
    if (count > completions)
      errors.push(invalid(field, count, `must be less than or equal to ${completions} (the number of specified completions)`));
    if (indexes !== undefined && count > total)
      errors.push(
        invalid(field, count, `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`),
      );
  }
  return errors;
}

const amounts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

/** What holds for a job and for the template of one. */
export function jobBody(given: Part, path: string): FieldError[] {
  const spec = given ?? {};
  const errors = amounts.flatMap((field) => nonNegative(spec[field], `${path}.${field}`));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (spec.managedBy !== undefined) {
    errors.push(...domainPrefixedPath(spec.managedBy, `${path}.managedBy`));
    if (byteLength(spec.managedBy) > 63) errors.push(tooLong(`${path}.managedBy`, 63));
  }
  if (spec.completionMode !== undefined)
    errors.push(...oneOf(spec.completionMode, ['NonIndexed', 'Indexed'], `${path}.completionMode`, true));
  if (isIndexed(spec)) errors.push(...indexed(spec, path));
  else if (spec.completionMode === undefined || spec.completionMode === 'NonIndexed')
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'])
      if (spec[field] !== undefined) errors.push(invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
  if (spec.podFailurePolicy) {
    const rules = list(spec.podFailurePolicy.rules);
    if (rules.length > 20) errors.push(tooMany(`${path}.podFailurePolicy.rules`, rules.length, 20));
    for (const [index, rule] of rules.entries()) errors.push(...failureRule(rule, spec, `${path}.podFailurePolicy.rules[${index}]`));
  }
  if (spec.successPolicy)
    errors.push(
      ...(isIndexed(spec)
        ? successPolicy(spec, `${path}.successPolicy`)
        : [invalid(`${path}.successPolicy`, shownPolicy(spec.successPolicy), 'requires indexed completion mode')]),
    );
  const replacement = spec.podReplacementPolicy;
  if (replacement !== undefined)
    errors.push(
      ...oneOf(replacement, spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'], `${path}.podReplacementPolicy`, true),
    );
  return [...errors, ...podTemplate(spec.template, `${path}.template`), ...restartPolicy(spec, path)];
}

const shownPolicy = ({rules}: Part): Part => ({
  Rules: list(rules).map(({succeededIndexes, succeededCount}) => ({
    SucceededIndexes: succeededIndexes ?? null,
    SucceededCount: succeededCount ?? null,
  })),
});

function restartPolicy(spec: Part, path: string): FieldError[] {
  const at = `${path}.template.spec.restartPolicy`;
  const policy = spec.template?.spec?.restartPolicy;
  if (!policy || policy === 'Always') return [required(at, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(at, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy && policy !== 'Never')
    return [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  return [];
}

function jobSpec(spec: Part): FieldError[] {
  const errors = jobBody(spec, 'spec');
  const labels = spec.template?.metadata?.labels;
  if (!spec.selector) errors.push(required('spec.selector'));
  else errors.push(...validateLabelSelector(spec.selector, 'spec.selector'));
  if (isReadable(spec.selector) && !(spec.selector && isEmptySelector(spec.selector)) && !selectorMatches(spec.selector, labels))
    errors.push(
      invalid('spec.template.metadata.labels', quotable(spec.template?.metadata, 'labels'), '`selector` does not match template `labels`'),
    );
  return errors;
}

/** The labels that tie pods to this very job, unless the user has taken that upon himself. */
function generatedSelector({metadata, spec}: KubeObject): FieldError[] {
  if (spec?.manualSelector || !spec?.selector) return [];
  const errors: FieldError[] = [];
  const {uid = '', name = ''} = metadata;
  const labels = spec.template?.metadata?.labels ?? {};
  const expected = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  if (!uid) errors.push(required('metadata.uid'));
  for (const [key, value] of Object.entries(expected)) {
    const at = `spec.template.metadata.labels[${key}]`;
    if (!(key in labels)) errors.push(required(at, `must be '${value}'`));
    else if (labels[key] !== value) errors.push(invalid(at, labels, `must be '${value}'`));
  }
  if (isReadable(spec.selector) && !selectorMatches(spec.selector, expected))
    errors.push(invalid('spec.selector', spec.selector, '`selector` not auto-generated'));
  return errors;
}

export function validateJob(object: KubeObject): FieldError[] {
  const spec = object.spec ?? {};
  const errors = [...generatedSelector(object), ...jobSpec(spec)];
  if (isIndexed(spec) && spec.completions > 0) {
    const host = `${object.metadata.name}-${spec.completions - 1}`;
    if (dns1123Label(host).length)
      errors.push(invalid('metadata.name', object.metadata.name, `will not able to create pod with invalid DNS label: ${host}`));
  }
  return errors;
}

export function validateJobUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return validateJobStatus(object, old);
  const [spec, before] = [object.spec ?? {}, old.spec ?? {}];
  const errors = [...validateJob(object), ...jobSpec(spec)];
  if (!isIndexed(spec)) errors.push(...validateImmutable(spec.completions, before.completions, 'spec.completions'));
  else if (spec.completions !== undefined && spec.completions !== before.completions && spec.completions !== spec.parallelism)
    errors.push(invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'));
  errors.push(...validateImmutable(spec.selector, before.selector, 'spec.selector'), ...templateUpdate(spec, before, object, old));
  const fixed = (field: string, quoted: Part): void => {
    if (!sameJson(spec[field], before[field])) errors.push(invalid(`spec.${field}`, quoted ?? null, 'field is immutable'));
  };
  fixed('completionMode', spec.completionMode);
  fixed('podFailurePolicy', internalForm(spec.podFailurePolicy, podFailurePolicyShape));
  fixed('backoffLimitPerIndex', spec.backoffLimitPerIndex);
  fixed('managedBy', spec.managedBy);
  fixed('successPolicy', internalForm(spec.successPolicy, successPolicyShape));
  return errors;
}

/** A job that has not started may still be told where and with what to run. */
function templateUpdate(spec: Part, old: Part, object: KubeObject, stored: KubeObject): FieldError[] {
  const before = structuredClone(old.template ?? {});
  const waiting = old.suspend === true;
  const neverStarted = waiting && stored.status?.startTime === undefined;
  if (neverStarted) {
    for (const field of ['nodeSelector', 'tolerations', 'schedulingGates', 'affinity']) copy(before.spec, spec.template?.spec ?? {}, field);
    before.metadata ??= {};
    for (const field of ['labels', 'annotations']) copy(before.metadata, spec.template?.metadata ?? {}, field);
  }
  if (waiting && (object.status?.active ?? 0) === 0)
    for (const field of ['containers', 'initContainers'])
      for (const [index, container] of list(before.spec?.[field]).entries()) {
        const now = spec.template?.spec?.[field]?.[index];
        if (now?.name === container.name) copy(container, now, 'resources');
      }
  if (sameJson(spec.template, before)) return [];
  return [invalid(waiting ? 'spec.template.spec' : 'spec.template', spec.template ?? null, 'field is immutable')];
}

function copy(target: Part, source: Part, field: string): void {
  if (source[field] === undefined) delete target[field];
  else target[field] = source[field];
}
