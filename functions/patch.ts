import {patching} from '../shared/registry/served/patch.ts';
import {writing} from '../shared/registry/served/writing.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('patch', () => ({handlers: patching, ...writing}));
