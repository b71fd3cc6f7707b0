import {updating} from '../shared/registry/served/update.ts';
import {writing} from '../shared/registry/served/writing.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('update', () => ({handlers: updating, ...writing}));
