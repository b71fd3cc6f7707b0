import {listing} from '../shared/registry/served/list.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('list', () => ({handlers: listing}));
