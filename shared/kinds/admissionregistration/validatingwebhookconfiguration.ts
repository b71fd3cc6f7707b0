/** Web hooks that judge objects. */
import {define} from '../define.ts';
import {
  validateValidatingWebhookConfiguration,
  validateValidatingWebhookConfigurationUpdate,
} from './validatingwebhookconfiguration.validate.ts';

export const validatingWebhookConfiguration = define({
  validate: validateValidatingWebhookConfiguration,
  validateUpdate: validateValidatingWebhookConfigurationUpdate,
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
