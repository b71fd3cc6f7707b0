/** Whether a cron job is well formed. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative, oneOf} from '../common/checks.ts';
import type {Part} from '../common/loose.ts';
import {byteLength} from '../common/names.ts';
import {jobBody} from './job.validate.ts';
import {isZone, scheduleProblem} from './schedule.ts';

function schedule(spec: Part, old?: Part): FieldError[] {
  const path = 'spec.schedule';
  const text: string = spec.schedule ?? '';
  if (!text) return [required(path)];
  const problem = scheduleProblem(text);
  const errors = problem === undefined ? [] : [invalid(path, text, problem)];
  if (!text.includes('TZ')) return errors;
  if (!old?.schedule?.includes('TZ')) errors.push(invalid(path, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  else if (spec.timeZone !== undefined) errors.push(invalid(path, text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  return errors;
}

function timeZone(name: string | undefined): FieldError[] {
  const path = 'spec.timeZone';
  if (name === undefined) return [];
  if (name === '') return [invalid(path, name, 'timeZone must be nil or non-empty string')];
  const unknown = `unknown time zone ${name}`;
  const isPart = (part: string): boolean => part !== '.' && part !== '..' && !part.startsWith('-') && /^[A-Za-z.\-_0-9+]{1,14}$/.test(part);
  if (!name.split('/').every(isPart)) return [invalid(path, name, unknown)];
  const errors: FieldError[] = [];
  if (name.toLowerCase() === 'local')
    errors.push(invalid(path, name, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'));
  if (!isZone(name)) errors.push(invalid(path, name, unknown));
  return errors;
}

function validateSpec(spec: Part, old?: Part): FieldError[] {
  const errors = [...schedule(spec, old), ...nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds')];
  if (!old || old.timeZone !== spec.timeZone) errors.push(...timeZone(spec.timeZone));
  errors.push(...oneOf(spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy'));
  const job = spec.jobTemplate?.spec ?? {};
  const path = 'spec.jobTemplate.spec';
  errors.push(...jobBody(job, path));
  if (job.selector) errors.push(invalid(`${path}.selector`, job.selector, '`selector` will be auto-generated'));
  if (job.manualSelector) errors.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
  for (const field of ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']) errors.push(...nonNegative(spec[field], `spec.${field}`));
  return errors;
}

export function validateCronJob({metadata, spec}: KubeObject): FieldError[] {
  const errors = validateSpec(spec ?? {});
  // Jobs get eleven characters more than their cron job.
  if (byteLength(metadata.name ?? '') > 52) errors.push(invalid('metadata.name', metadata.name, 'must be no more than 52 characters'));
  return errors;
}

export const validateCronJobUpdate = (object: KubeObject, old: KubeObject, subresource: string): FieldError[] =>
  subresource === 'status' ? [] : validateSpec(object.spec ?? {}, old.spec ?? {});
