/** A storage driver and what it supports. */
import {define} from '../define.ts';

export const csiDriver = define({
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
});
