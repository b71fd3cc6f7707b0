import {createServiceAllocator} from '../shared/registry/allocators/service.ts';
import {patching} from '../shared/registry/served/patch.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('patch', () => ({handlers: patching, allocator: createServiceAllocator}));
