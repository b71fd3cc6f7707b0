/** A class of ingress controllers. */
import {define} from '../define.ts';
import {validateIngressClass, validateIngressClassUpdate} from './ingressclass.validate.ts';

export const ingressClass = define({
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
  generation: true,
  metadataOnUpdate: ['update', 'full'],
});
