/** Jobs by the clock. */
import {define} from '../define.ts';

export const cronJob = define({generation: true, newStatus: () => ({})});
