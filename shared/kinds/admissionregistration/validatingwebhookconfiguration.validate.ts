/** Whether a validating webhook configuration is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateWebhooks} from './webhooks.validate.ts';

export const validateValidatingWebhookConfiguration = (object: KubeObject): FieldError[] => validateWebhooks(object, false);
export const validateValidatingWebhookConfigurationUpdate = (object: KubeObject, old: KubeObject): FieldError[] =>
  validateWebhooks(object, false, old);
