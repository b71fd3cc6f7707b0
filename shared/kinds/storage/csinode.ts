/** The storage drivers of a node. */
import {define} from '../define.ts';

export const csiNode = define({
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
});
