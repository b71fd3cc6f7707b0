/** Configuration as keys and values. */
import {define} from '../define.ts';
import {validateConfigMap, validateConfigMapUpdate} from './configmap.validate.ts';

export const configMap = define({
  validate: validateConfigMap,
  validateUpdate: validateConfigMapUpdate,
  metadataOnUpdate: ['update', 'full'],
});
