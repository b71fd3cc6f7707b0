/** What a job's controller may report: conditions that do not contradict each other, counters that do not go back. */
import {duplicate, type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {overlap, parseIndexes} from './indexes.ts';

const has = (status: Part, type: string): boolean =>
  list(status?.conditions).some((condition) => condition.type === type && condition.status === 'True');

const conditionsError = (words: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: 'status.conditions',
  message: `Invalid value: ${words}`,
});

export function validateJobStatus({spec, status: given}: KubeObject, {status: stored}: KubeObject): FieldError[] {
  const status = given ?? {};
  const old = stored ?? {};
  const [complete, failed, target, met] = ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'].map((type) => has(status, type));
  const finished = complete || failed;
  const errors = ['active', 'succeeded', 'failed', 'ready', 'terminating'].flatMap((field) =>
    nonNegative(status[field], `status.${field}`),
  );
  errors.push(...uncounted(status.uncountedTerminatedPods));
  const conflict = (wrong: boolean | undefined, words: string): void => {
    if (wrong) errors.push(conditionsError(words));
  };
  const conditionsChanged = !sameJson(status.conditions, old.conditions);
  if (conditionsChanged) {
    conflict(complete && failed, 'cannot set Complete=True and Failed=true conditions');
    conflict(complete && target, 'cannot set Complete=True and FailureTarget=true conditions');
  }
  const done = status.completionTime;
  if (done !== undefined && !complete && done !== old.completionTime)
    errors.push(invalid('status.completionTime', done, 'cannot set completionTime when there is no Complete=True condition'));
  if (done === undefined && complete && !has(old, 'Complete'))
    errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'));
  if (status.startTime && done && Date.parse(done) < Date.parse(status.startTime))
    errors.push(invalid('status.completionTime', done, 'must be equal to or after `startTime`'));
  if (conditionsChanged) {
    conflict(failed && !target && !has(old, 'Failed'), 'cannot set Failed=True condition without the FailureTarget=true condition');
    conflict(complete && !met && !has(old, 'Complete'), 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if (status.active > 0 && finished) errors.push(invalid('status.active', status.active, 'active>0 is invalid for finished job'));
  if (status.startTime === undefined && finished) errors.push(required('status.startTime', 'startTime is required for finished job'));
  const waiting = status.uncountedTerminatedPods;
  if (finished && list(waiting?.succeeded).length + list(waiting?.failed).length > 0)
    errors.push(invalid('status.uncountedTerminatedPods', waiting, 'must be empty for finished job'));
  errors.push(...indexes(spec ?? {}, status));
  if (status.terminating > 0 && finished)
    errors.push(invalid('status.terminating', status.terminating, 'terminating>0 is invalid for finished job'));
  if (status.ready > (status.active ?? 0)) errors.push(invalid('status.ready', status.ready, 'cannot set more ready pods than active'));
  conflict(met && failed, 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  conflict(met && target, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  conflict(spec?.successPolicy && !met && complete, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  for (const type of ['Failed', 'Complete', 'FailureTarget'])
    conflict(has(old, type) && !has(status, type), `cannot disable the terminal ${type}=True condition`);
  for (const field of ['failed', 'succeeded'])
    if ((status[field] ?? 0) < (old[field] ?? 0))
      errors.push(invalid(`status.${field}`, status[field] ?? 0, `cannot decrease the ${field} counter`));
  if (done !== undefined && old.completionTime !== undefined && done !== old.completionTime)
    errors.push(invalid('status.completionTime', done, immutable));
  if (old.startTime !== undefined && old.startTime !== status.startTime && !spec?.suspend)
    errors.push(invalid('status.startTime', status.startTime ?? null, 'field is immutable for unsuspended job once set'));
  conflict(has(old, 'SuccessCriteriaMet') && !met, 'cannot disable the SuccessCriteriaMet=True condition');
  conflict(
    has(old, 'Complete') && !has(old, 'SuccessCriteriaMet') && met,
    'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
  );
  return errors;
}

function uncounted(given: Part): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed'])
    for (const [index, uid] of list(given?.[field]).entries()) {
      const at = `status.uncountedTerminatedPods.${field}[${index}]`;
      if (!uid) errors.push(invalid(at, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(at, uid));
      else seen.add(uid);
    }
  return errors;
}

function indexes(spec: Part, status: Part): FieldError[] {
  const errors: FieldError[] = [];
  const {completedIndexes = '', failedIndexes} = status;
  const {completions} = spec;
  const check = (field: string, text: string): void => {
    const parsed = parseIndexes(text, completions);
    if (typeof parsed === 'string') errors.push(invalid(`status.${field}`, text, `error parsing ${field}: ${parsed}`));
  };
  if (completions !== undefined) {
    check('completedIndexes', completedIndexes);
    if (spec.backoffLimitPerIndex !== undefined && failedIndexes !== undefined) check('failedIndexes', failedIndexes);
  }
  if (completedIndexes && spec.completionMode !== 'Indexed')
    errors.push(
      invalid('status.completedIndexes', completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode'),
    );
  if (spec.backoffLimitPerIndex === undefined && failedIndexes !== undefined)
    errors.push(invalid('status.failedIndexes', failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  if (completions !== undefined && failedIndexes !== undefined) {
    const shared = overlap(completedIndexes, failedIndexes, completions);
    if (shared !== undefined)
      errors.push(invalid('status.failedIndexes', failedIndexes, `failedIndexes and completedIndexes overlap at index: ${shared}`));
  }
  return errors;
}
