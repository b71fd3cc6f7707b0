/** What the function `patch` serves, server-side apply included. */
import type {Handler} from '../context.ts';
import {patch} from '../patch.ts';
import {patchScale} from '../subresources/scale.ts';

export const patching = {
  patch,
  patchSubresource: (context) => (context.info.subresource === 'scale' ? patchScale(context) : patch(context)),
} satisfies Record<string, Handler>;
