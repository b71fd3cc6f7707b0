/** A webhook that changes: it is asked once. */
import type {Defaults} from '../common/defaulter.ts';
import {webhook} from './validatingwebhookconfiguration.defaults.ts';

export const mutatingWebhookConfigurationDefaults: Defaults = {
  'admissionregistration/v1.MutatingWebhook': (value) => {
    webhook(value);
    value.reinvocationPolicy ??= 'Never';
  },
};
