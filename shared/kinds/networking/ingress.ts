/** Rules for HTTP traffic from outside. */
import {define} from '../define.ts';
import {validateIngress, validateIngressUpdate} from './ingress.validate.ts';

const classAnnotation = 'kubernetes.io/ingress.class';

export const ingress = define({
  validate: validateIngress,
  validateUpdate: (object, old, {subresource}) => validateIngressUpdate(object, old, subresource),
  generation: true,
  metadataOnUpdate: ['update', 'full'],
  newStatus: () => ({loadBalancer: {}}),
  warningsOnCreate: (object) =>
    object.metadata.annotations?.[classAnnotation] !== undefined && object.spec?.ingressClassName === undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
});
