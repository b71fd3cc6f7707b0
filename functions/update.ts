import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {updating} from '../shared/registry/served/update.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('update', () => ({handlers: updating, allocator: createServiceAllocator}));
