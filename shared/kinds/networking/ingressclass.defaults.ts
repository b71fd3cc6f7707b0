/** Parameters of an ingress class belong to the cluster. */
import type {Defaults} from '../common/defaulter.ts';

export const ingressClassDefaults: Defaults = {
  'networking/v1.IngressClass': ({spec}) => {
    if (spec.parameters) spec.parameters.scope ??= 'Cluster';
  },
};
