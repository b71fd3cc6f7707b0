/** Which traffic reaches a set of pods. */
import {define} from '../define.ts';
import {validateNetworkPolicy, validateNetworkPolicyUpdate} from './networkpolicy.validate.ts';

export const networkPolicy = define({
  validate: validateNetworkPolicy,
  validateUpdate: validateNetworkPolicyUpdate,
  generation: true,
});
