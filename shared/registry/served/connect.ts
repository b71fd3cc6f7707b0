/** What the function `connect` serves: what the nodes say, be it bytes or figures. */
import type {Handler} from '../context.ts';
import {getMetrics, listMetrics} from '../figures/metrics.ts';
import {connect} from '../subresources/connect.ts';

export const connecting = {connect, get: getMetrics, list: listMetrics} satisfies Record<string, Handler>;
