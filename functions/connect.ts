import {connecting} from '../shared/registry/served/connect.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('connect', () => ({handlers: connecting}));
