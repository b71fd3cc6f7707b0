/** A class of ingress controllers. */
import {define} from '../define.ts';

export const ingressClass = define({
  generation: true,
  metadataOnUpdate: ['update', 'full'],
});
