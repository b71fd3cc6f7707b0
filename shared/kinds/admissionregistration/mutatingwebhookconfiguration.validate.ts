/** Whether a mutating webhook configuration is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateWebhooks} from './webhooks.validate.ts';

export const validateMutatingWebhookConfiguration = (object: KubeObject): FieldError[] => validateWebhooks(object, true);
export const validateMutatingWebhookConfigurationUpdate = (object: KubeObject, old: KubeObject): FieldError[] =>
  validateWebhooks(object, true, old);
