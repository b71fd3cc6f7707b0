/** A pattern for the claims of pods. */
import {define} from '../define.ts';
import {validateResourceClaimTemplate, validateResourceClaimTemplateUpdate} from './resourceclaimtemplate.validate.ts';

export const resourceClaimTemplate = define({
  validate: validateResourceClaimTemplate,
  validateUpdate: validateResourceClaimTemplateUpdate,
  deleteReturnsObject: true,
  metadataOnUpdate: ['update', 'full'],
});
