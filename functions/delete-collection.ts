import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {deletingCollections} from '../shared/registry/served/delete-collection.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('delete-collection', () => ({handlers: deletingCollections, allocator: createServiceAllocator}));
