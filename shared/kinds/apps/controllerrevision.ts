/** A snapshot of a controller's template. */
import {define} from '../define.ts';
import {validateControllerRevision, validateControllerRevisionUpdate} from './controllerrevision.validate.ts';

export const controllerRevision = define({
  validate: validateControllerRevision,
  validateUpdate: validateControllerRevisionUpdate,
  metadataOnUpdate: ['update', 'full'],
});
