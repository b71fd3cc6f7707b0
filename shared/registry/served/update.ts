/** What the function `update` serves. */
import type {Handler} from '../context.ts';
import {updateScale} from '../subresources/scale.ts';
import {update} from '../update.ts';

export const updating = {
  update,
  updateSubresource: (context) => (context.info.subresource === 'scale' ? updateScale(context) : update(context)),
} satisfies Record<string, Handler>;
