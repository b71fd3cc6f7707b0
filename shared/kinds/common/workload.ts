/** What workloads share: selectors that match their templates, pods that always restart, amounts in numbers or percent. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {quotable} from '../../schema/normalize.ts';
import {nonNegative, problems} from './checks.ts';
import {isEmptySelector, type LabelSelector, selectorMatches, validateLabelSelector} from './labels.ts';
import type {Part} from './loose.ts';
import {percent} from './names.ts';
import {podTemplate} from './pod-spec.ts';

/** A selector that cannot be evaluated selects nothing, and the reference then does not look at the template. */
export const isReadable = (selector: LabelSelector | undefined): boolean => validateLabelSelector(selector, '').length === 0;

export interface SelectorWords {
  /** `empty selector is invalid for …` */
  kind: string;
  /** Detail of a selector that cannot be read. */
  unreadable?: string;
}

export function workloadSelector(spec: Part, {kind, unreadable}: SelectorWords): FieldError[] {
  const {selector} = spec;
  if (!selector) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  const unreadableToo = errors.length > 0;
  if (isEmptySelector(selector)) errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
  if (unreadableToo && unreadable !== undefined) errors.push(invalid('spec.selector', selector, unreadable));
  return errors;
}

export function mismatch(spec: Part): FieldError[] {
  const labels = spec.template?.metadata?.labels;
  if (spec.selector && (isEmptySelector(spec.selector) || selectorMatches(spec.selector, labels))) return [];
  return [
    invalid('spec.template.metadata.labels', quotable(spec.template?.metadata, 'labels'), '`selector` does not match template `labels`'),
  ];
}

export function alwaysRestarts(spec: Part, kind: string): FieldError[] {
  const pod = spec.template?.spec ?? {};
  const path = 'spec.template.spec';
  return [
    ...(pod.restartPolicy === 'Always' ? [] : [notSupported(`${path}.restartPolicy`, pod.restartPolicy ?? '', ['Always'])]),
    ...(pod.activeDeadlineSeconds === undefined
      ? []
      : [fieldForbidden(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
}

/** Template of a deployment or replica set: only looked at when the selector can be read. */
export const replicaTemplate = (spec: Part): FieldError[] =>
  isReadable(spec.selector)
    ? [...mismatch(spec), ...podTemplate(spec.template, 'spec.template'), ...alwaysRestarts(spec, 'ReplicaSet')]
    : [];

type Amount = number | string | undefined;

export const intOrPercent = (value: Amount, path: string): FieldError[] =>
  typeof value === 'string' ? problems(path, value, percent(value)) : nonNegative(value, path);

/** The number before the percent sign, or the number itself; text that is neither counts as none. */
export const amountOf = (value: Amount): number =>
  typeof value === 'string' ? (/^[0-9]+%?$/.test(value) ? Number.parseInt(value, 10) : 0) : (value ?? 0);

export const atMostAll = (value: Amount, path: string): FieldError[] =>
  typeof value === 'string' && percent(value).length === 0 && amountOf(value) > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : [];
