/** A pattern for pods, by itself. */
import {podTemplate as validateTemplate} from '../common/pod-spec.ts';
import {templateWarnings} from '../common/pod-warnings.ts';
import {define} from '../define.ts';

export const podTemplate = define({
  warningsOnCreate: ({template}) => templateWarnings(template, 'template'),
  warningsOnUpdate: ({metadata, template}, old) =>
    metadata.generation === old.metadata.generation ? [] : templateWarnings(template, 'template'),
  validate: ({template}) => validateTemplate(template, 'template'),
  validateUpdate: ({template}) => validateTemplate(template, 'template'),
  generation: true,
  deleteReturnsObject: true,
});
