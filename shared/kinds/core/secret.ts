/** Configuration that should stay secret. What is written as stringData has become data before (secret.defaults.ts). */
import {define} from '../define.ts';
import {validateSecret, validateSecretUpdate} from './secret.validate.ts';

export const secret = define({
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  metadataOnUpdate: ['update', 'full'],
  prepareForUpdate(object, old) {
    if (!object.type) object.type = old.type;
  },
  selectableFields: (object) => ({type: object.type ?? ''}),
});
