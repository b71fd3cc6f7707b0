import {getting} from '../shared/registry/served/get.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('get', () => ({handlers: getting}));
