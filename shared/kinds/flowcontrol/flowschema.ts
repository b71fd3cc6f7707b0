/** Which requests share a priority level. */
import {define} from '../define.ts';
import {validateFlowSchema, validateFlowSchemaUpdate} from './flowschema.validate.ts';

export const flowSchema = define({
  validate: validateFlowSchema,
  validateUpdate: (object, old, {subresource}) => validateFlowSchemaUpdate(object, old, subresource),
  generation: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
