/** A webhook that judges: a request fails with it. */
import type {Defaults} from '../common/defaulter.ts';
import type {Part} from '../common/loose.ts';
import {matchAll} from './match-resources.defaults.ts';

export function webhook(value: Part): void {
  value.failurePolicy ??= 'Fail';
  matchAll(value);
  value.timeoutSeconds ??= 10;
}

export const validatingWebhookConfigurationDefaults: Defaults = {
  'admissionregistration/v1.ValidatingWebhook': webhook,
};
