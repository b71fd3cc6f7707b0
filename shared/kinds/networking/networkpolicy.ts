/** Which traffic reaches a set of pods. */
import {define} from '../define.ts';

export const networkPolicy = define({
  generation: true,
});
