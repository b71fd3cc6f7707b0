import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {Reviews} from '../shared/registry/reviews/reviews.ts';
import {creating} from '../shared/registry/served/create.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('create', () => ({
  handlers: creating,
  allocator: createServiceAllocator,
  // Tokens of service accounts are created.
  reviews: (services) => new Reviews(services),
}));
