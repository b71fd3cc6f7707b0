/** What the function `get` serves. Subresources whose bodies are of another kind than their parent's have a handler of their own; the others are the parent. */
import {getComponentStatus} from '../component-status.ts';
import type {Handler} from '../context.ts';
import {get} from '../get.ts';
import {getScale} from '../subresources/scale-get.ts';

export const getting = {
  get: (context) => (context.resource.storageType === 'componentstatuses' ? getComponentStatus(context) : get(context)),
  getSubresource: (context) => (context.info.subresource === 'scale' ? getScale(context) : get(context)),
} satisfies Record<string, Handler>;
