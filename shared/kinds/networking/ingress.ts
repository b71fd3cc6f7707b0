/** Rules for HTTP traffic from outside. */
import {define} from '../define.ts';

const classAnnotation = 'kubernetes.io/ingress.class';

export const ingress = define({
  generation: true,
  metadataOnUpdate: ['update', 'full'],
  newStatus: () => ({loadBalancer: {}}),
  warningsOnCreate: (object) =>
    object.metadata.annotations?.[classAnnotation] !== undefined && object.spec?.ingressClassName === undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
});
