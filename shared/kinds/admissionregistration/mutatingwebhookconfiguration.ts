/** Web hooks that change objects. */
import {define} from '../define.ts';
import {validateMutatingWebhookConfiguration, validateMutatingWebhookConfigurationUpdate} from './mutatingwebhookconfiguration.validate.ts';

export const mutatingWebhookConfiguration = define({
  validate: validateMutatingWebhookConfiguration,
  validateUpdate: validateMutatingWebhookConfigurationUpdate,
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
