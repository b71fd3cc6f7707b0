/** A pattern for pods, by itself. */
import {podTemplate as validateTemplate} from '../common/pod-spec.ts';
import {define} from '../define.ts';

export const podTemplate = define({
  validate: ({template}) => validateTemplate(template, 'template'),
  validateUpdate: ({template}) => validateTemplate(template, 'template'),
  generation: true,
  deleteReturnsObject: true,
});
