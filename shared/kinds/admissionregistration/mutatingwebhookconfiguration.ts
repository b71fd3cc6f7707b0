/** Web hooks that change objects. */
import {define} from '../define.ts';

export const mutatingWebhookConfiguration = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
