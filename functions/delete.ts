import {deleting} from '../shared/registry/served/delete.ts';
import {writing} from '../shared/registry/served/writing.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('delete', () => ({handlers: deleting, ...writing}));
