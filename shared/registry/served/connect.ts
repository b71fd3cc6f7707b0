/** What the function `connect` serves. */
import type {Handler} from '../context.ts';
import {connect} from '../subresources/connect.ts';

export const connecting = {connect} satisfies Record<string, Handler>;
