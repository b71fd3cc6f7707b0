/** An ingress that names no class gets the default one. */
import type {Plugin} from './attributes.ts';
import {newestDefault} from './newest-default.ts';

export const defaultIngressClass: Plugin = {
  name: 'DefaultIngressClass',
  operations: ['CREATE'],
  resources: ['ingresses.networking.k8s.io'],
  async mutate({object: ingress}, lookups) {
    if (!ingress || ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return;
    const chosen = newestDefault(await lookups.ingressClasses(), ['ingressclass.kubernetes.io/is-default-class']);
    if (chosen) ingress.spec = {...ingress.spec, ingressClassName: chosen.metadata.name};
  },
};
