/** The first controller of replicas. */
import {define} from '../define.ts';

export const replicationController = define({
  generation: true,
  defaultPropagation: 'Orphan',
  newStatus: () => ({replicas: 0}),
  selectableFields: (object) => ({'status.replicas': String(object.status?.replicas ?? 0)}),
});
