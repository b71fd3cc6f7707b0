/** Whether a lease is well formed. */
import {type FieldError, fieldForbidden, invalid, notSupported} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {qualified} from '../common/checks.ts';
import {notNegative} from '../common/names.ts';

const strategies = ['OldestEmulationVersion'];

export function validateLease({spec}: KubeObject): FieldError[] {
  const {leaseDurationSeconds, leaseTransitions, strategy, preferredHolder} = spec ?? {};
  const errors: FieldError[] = [];
  if (leaseDurationSeconds <= 0) errors.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  if (leaseTransitions < 0) errors.push(invalid('spec.leaseTransitions', leaseTransitions, notNegative));
  if (strategy !== undefined) errors.push(...validateStrategy(strategy));
  if (preferredHolder && !strategy) errors.push(fieldForbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  return errors;
}

export const validateLeaseUpdate = (object: KubeObject): FieldError[] => validateLease(object);

/** One of the server's own, or one with a domain. The doubled field name is the reference's. */
function validateStrategy(strategy: string): FieldError[] {
  const path = 'spec.strategy.strategy';
  if (strategy.includes('/')) return qualified(strategy, path);
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)];
}
