/** A priority that pods can ask for by name. */
import {define} from '../define.ts';
import {validatePriorityClass, validatePriorityClassUpdate} from './priorityclass.validate.ts';

export const priorityClass = define({
  validate: validatePriorityClass,
  validateUpdate: validatePriorityClassUpdate,
  generation: true,
  generationStays: true,
});
