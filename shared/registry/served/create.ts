/** What the function `create` serves: new objects, and subresources that one creates. */
import type {Handler} from '../context.ts';
import {create} from '../create.ts';
import {notAllowed} from '../dispatch.ts';
import {bind} from '../subresources/binding.ts';
import {evict} from '../subresources/eviction.ts';

const subresources: Readonly<Record<string, Handler>> = {
  binding: bind,
  eviction: evict,
  token: (context) => context.machine.reviews.token(context),
};

export const creating = {
  create: (context) => (context.resource.resource === 'bindings' ? bind(context) : create(context)),
  createSubresource: (context) => {
    const handler = subresources[context.info.subresource];
    if (!handler) throw notAllowed();
    return handler(context);
  },
} satisfies Record<string, Handler>;
