/** A container runtime that pods can ask for. */
import {define} from '../define.ts';

export const runtimeClass = define({
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  metadataOnUpdate: ['update', 'full'],
});
