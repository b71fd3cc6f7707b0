/** Whether a daemon set is well formed. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {quotable} from '../../schema/normalize.ts';
import {nonNegative} from '../common/checks.ts';
import {isEmptySelector, selectorMatches, validateLabelSelector} from '../common/labels.ts';
import type {Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {podTemplate} from '../common/pod-spec.ts';
import {collisions} from '../common/status.ts';
import {alwaysRestarts, amountOf, atMostAll, intOrPercent, isReadable} from '../common/workload.ts';

function updateStrategy(given: Part): FieldError[] {
  const path = 'spec.updateStrategy';
  const {type = '', rollingUpdate: rolling} = given ?? {};
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    const shown = {
      Type: type,
      RollingUpdate: rolling ? {MaxUnavailable: rolling.maxUnavailable ?? 0, MaxSurge: rolling.maxSurge ?? 0} : null,
    };
    return [notSupported(path, shown, ['RollingUpdate', 'OnDelete'])];
  }
  if (!rolling) return [required(`${path}.rollingUpdate`)];
  const at = (field: string): string => `${path}.rollingUpdate.${field}`;
  const {maxUnavailable = 0, maxSurge = 0} = rolling;
  const errors = [
    ...intOrPercent(maxUnavailable, at('maxUnavailable')),
    ...intOrPercent(maxSurge, at('maxSurge')),
    ...atMostAll(maxUnavailable, at('maxUnavailable')),
    ...atMostAll(maxSurge, at('maxSurge')),
  ];
  const [unavailable, surge] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0];
  if (unavailable && surge) errors.push(invalid(at('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero'));
  if (!unavailable && !surge) errors.push(required(at('maxUnavailable'), 'cannot be 0 when maxSurge is 0'));
  return errors;
}

export function validateDaemonSet({spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const labels = spec.template?.metadata?.labels;
  const errors = validateLabelSelector(spec.selector, 'spec.selector');
  if (isReadable(spec.selector) && !selectorMatches(spec.selector, labels))
    errors.push(
      invalid('spec.template.metadata.labels', quotable(spec.template?.metadata, 'labels'), '`selector` does not match template `labels`'),
    );
  if (spec.selector && isEmptySelector(spec.selector))
    errors.push(invalid('spec.selector', spec.selector, 'empty selector is invalid for daemonset'));
  return [
    ...errors,
    ...podTemplate(spec.template, 'spec.template'),
    ...alwaysRestarts(spec, 'DaemonSet'),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...updateStrategy(spec.updateStrategy),
    ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
}

const counted = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export function validateDaemonSetUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status')
    return [
      ...counted.flatMap((field) => nonNegative(object.status?.[field], `status.${field}`)),
      ...collisions(object.status, old.status),
    ];
  return [...validateImmutable(object.spec?.selector, old.spec?.selector, 'spec.selector'), ...validateDaemonSet(object)];
}
