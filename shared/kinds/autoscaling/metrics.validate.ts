/** Whether a metric of an autoscaler is well formed: one source, of its type, with a target. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {parseGroupVersion} from '../../object.ts';
import {label, problems} from '../common/checks.ts';
import type {Part} from '../common/loose.ts';
import {pathSegment} from '../common/names.ts';
import {nanos} from '../common/quantity.ts';
import {containerResourceName} from '../common/resources.ts';

export interface VersionRules {
  /** No rules at all. */
  any?: boolean;
  /** The core group passes. */
  emptyGroup?: boolean;
}

const sourceTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const targetTypes = ['Utilization', 'Value', 'AverageValue'];

/** Fields of a metric in the order in which they are looked at. */
const sources: Readonly<Record<string, (source: Part, path: string, rules: VersionRules) => FieldError[]>> = {
  object: objectSource,
  external: externalSource,
  pods: podsSource,
  resource: resourceSource,
  containerResource: containerResourceSource,
};

const fieldOf = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);

export function validateMetric(metric: Part, path: string, rules: VersionRules): FieldError[] {
  const {type = ''} = metric;
  const unknown = notSupported(`${path}.type`, type, sourceTypes);
  const isKnown = sourceTypes.includes(type);
  const errors = type ? [] : [required(`${path}.type`, 'must specify a metric source type')];
  if (!isKnown) errors.push(unknown);
  const present = Object.keys(sources).filter((field) => metric[field]);
  // Only the first of several is looked at.
  const first = present[0];
  if (first) errors.push(...sources[first]!(metric[first], `${path}.${first}`, rules));
  if (!isKnown) errors.push(unknown);
  else if (!metric[fieldOf(type)])
    errors.push(required(`${path}.${fieldOf(type)}`, 'must populate information for the given metric source'));
  if (present.length === 1) return errors;
  const others = present.filter((field) => !isKnown || field !== fieldOf(type));
  return [...errors, ...others.map((field) => fieldForbidden(`${path}.${field}`, 'must populate the given metric source only'))];
}

function objectSource({describedObject, metric, target = {}}: Part, path: string, rules: VersionRules): FieldError[] {
  return [
    ...versionedReference(describedObject ?? {}, `${path}.describedObject`, rules),
    ...metricName(metric, `${path}.metric`),
    ...validateTarget(target, `${path}.target`),
    ...(isSet(target.value) || isSet(target.averageValue)
      ? []
      : [required(`${path}.target.averageValue`, 'must set either a target value or averageValue')]),
  ];
}

function externalSource({metric, target = {}}: Part, path: string): FieldError[] {
  const [value, average] = [isSet(target.value), isSet(target.averageValue)];
  const errors = [...metricName(metric, `${path}.metric`), ...validateTarget(target, `${path}.target`)];
  if (!value && !average)
    errors.push(required(`${path}.target.averageValue`, 'must set either a target value for metric or a per-pod target'));
  if (value && average)
    errors.push(fieldForbidden(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target'));
  return errors;
}

function podsSource({metric, target = {}}: Part, path: string): FieldError[] {
  return [
    ...metricName(metric, `${path}.metric`),
    ...validateTarget(target, `${path}.target`),
    ...(isSet(target.averageValue) ? [] : [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]),
  ];
}

function resourceSource({name, target}: Part, path: string): FieldError[] {
  return [...(name ? [] : [required(`${path}.name`, 'must specify a resource name')]), ...rawOrUtilization(target ?? {}, `${path}.target`)];
}

function containerResourceSource({name, container, target}: Part, path: string): FieldError[] {
  return [
    ...(name ? containerResourceName(name, `${path}.name`) : [required(`${path}.name`, 'must specify a resource name')]),
    ...(container ? label(container, `${path}.container`) : [required(`${path}.container`, 'must specify a container')]),
    ...rawOrUtilization(target ?? {}, `${path}.target`),
  ];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function rawOrUtilization(target: Part, path: string): FieldError[] {
  const [raw, utilization] = [isSet(target.averageValue), isSet(target.averageUtilization)];
  const errors = validateTarget(target, path);
  if (!raw && !utilization)
    errors.push(required(`${path}.averageUtilization`, 'must set either a target raw value or a target utilization'));
  if (raw && utilization)
    errors.push(fieldForbidden(`${path}.averageValue`, 'may not set both a target raw value and a target utilization'));
  return errors;
}

function validateTarget({type = '', value, averageValue, averageUtilization}: Part, path: string): FieldError[] {
  const errors = type ? [] : [required(`${path}.type`, 'must specify a metric target type')];
  if (!targetTypes.includes(type)) errors.push(invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  for (const [field, amount] of Object.entries({value, averageValue}))
    if (isSet(amount) && nanos(amount) <= 0n) errors.push(invalid(`${path}.${field}`, String(amount), 'must be positive'));
  if (averageUtilization < 1) errors.push(invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  return errors;
}

const metricName = (metric: Part, path: string): FieldError[] => named(metric?.name, `${path}.name`, 'must specify a metric name');

const named = (value: string | undefined, path: string, missing = ''): FieldError[] =>
  value ? problems(path, value, pathSegment(value)) : [required(path, missing)];

/** A reference to what is scaled, or measured. */
export function versionedReference({kind, name, apiVersion = ''}: Part, path: string, rules: VersionRules): FieldError[] {
  const problem = versionProblem(apiVersion, rules);
  return [
    ...named(kind, `${path}.kind`),
    ...named(name, `${path}.name`),
    ...(problem ? [invalid(`${path}.apiVersion`, apiVersion, problem)] : []),
  ];
}

export const hasVersionProblem = (apiVersion: string | undefined, rules: VersionRules): boolean =>
  versionProblem(apiVersion ?? '', rules) !== undefined;

function versionProblem(apiVersion: string, {any, emptyGroup}: VersionRules): string | undefined {
  if (any) return undefined;
  const parsed = parseGroupVersion(apiVersion);
  if (!parsed) return `unexpected GroupVersion string: ${apiVersion}`;
  return parsed.group || emptyGroup ? undefined : 'apiVersion must specify API group';
}
