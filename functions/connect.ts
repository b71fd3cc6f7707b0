import {connecting} from '../shared/registry/served/connect.ts';
import {roadsClosed} from './kit/node-road.ts';
import {rest} from './kit/rest.ts';
import {roadsOf} from './kit/roads.ts';

export const handler = await rest('connect', () => ({handlers: connecting}), {more: roadsOf, over: roadsClosed});
