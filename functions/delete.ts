import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {deleting} from '../shared/registry/served/delete.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('delete', () => ({handlers: deleting, allocator: createServiceAllocator}));
