/** The rooms that every writing verb goes through, and no reading one. */
import {createServiceAllocator} from '../allocators/service.ts';
import {Quotas} from '../quotas.ts';

export const writing = {
  allocator: createServiceAllocator,
  quotas: (options: ConstructorParameters<typeof Quotas>[0]) => new Quotas(options),
};
