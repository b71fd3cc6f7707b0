/** A priority that pods can ask for by name. */
import {define} from '../define.ts';

export const priorityClass = define({
  generation: true,
  generationStays: true,
});
