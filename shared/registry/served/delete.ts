/** What the function `delete` serves. */
import type {Handler} from '../context.ts';
import {remove} from '../delete.ts';

export const deleting = {delete: remove} satisfies Record<string, Handler>;
