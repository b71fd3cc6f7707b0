/** Pods with identities and storage of their own. */
import {define} from '../define.ts';

export const statefulSet = define({
  name: 'dns1123Label',
  generation: true,
  newStatus: () => ({replicas: 0, availableReplicas: 0}),
});
