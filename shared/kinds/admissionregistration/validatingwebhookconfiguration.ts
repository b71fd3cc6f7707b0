/** Web hooks that judge objects. */
import {define} from '../define.ts';

export const validatingWebhookConfiguration = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
