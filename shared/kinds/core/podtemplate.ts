/** A pattern for pods, by itself. */
import {define} from '../define.ts';

export const podTemplate = define({generation: true, deleteReturnsObject: true});
