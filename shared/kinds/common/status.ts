/** What controllers report: counters that are not negative and agree. */
import {type FieldError, invalid} from '../../field-errors.ts';
import {nonNegative} from './checks.ts';
import type {Part} from './loose.ts';

const more = 'cannot be greater than status.replicas';

/** `bounded`: counters that cannot be more than there are replicas. */
export function counters(
  status: Part,
  all: readonly string[],
  bounded: readonly string[],
  readyWords = 'cannot be greater than readyReplicas',
): FieldError[] {
  const errors = all.flatMap((field) => nonNegative(status?.[field], `status.${field}`));
  for (const field of bounded)
    if ((status?.[field] ?? 0) > (status?.replicas ?? 0)) errors.push(invalid(`status.${field}`, status[field], more));
  if ((status?.availableReplicas ?? 0) > (status?.readyReplicas ?? 0))
    errors.push(invalid('status.availableReplicas', status.availableReplicas, readyWords));
  return errors;
}

export const replicaStatus = (status: Part): FieldError[] =>
  counters(
    status,
    ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'],
    ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  );

/** The counter against name collisions only grows. */
export const collisions = (status: Part, old: Part): FieldError[] =>
  old?.collisionCount !== undefined && (status?.collisionCount ?? -1) < old.collisionCount
    ? [invalid('status.collisionCount', status?.collisionCount ?? 0, 'cannot be decremented')]
    : [];
