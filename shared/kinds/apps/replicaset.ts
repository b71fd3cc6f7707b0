/** A number of pods from one template. */
import {define} from '../define.ts';

export const replicaSet = define({
  generation: true,
  newStatus: () => ({replicas: 0}),
  selectableFields: (object) => ({'status.replicas': String(object.status?.replicas ?? 0)}),
});
