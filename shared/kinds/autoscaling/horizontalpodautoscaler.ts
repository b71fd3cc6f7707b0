/** How many replicas a workload should have. Kept as autoscaling/v2. */
import type {KubeObject} from '../../object.ts';
import {define} from '../define.ts';
import {validateHorizontalPodAutoscaler, validateHorizontalPodAutoscalerUpdate} from './horizontalpodautoscaler.validate.ts';

export const horizontalPodAutoscaler = define({
  validate: (object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: (object, old, {subresource}) => validateHorizontalPodAutoscalerUpdate(object, old, subresource),
  newStatus: () => ({desiredReplicas: 0, currentMetrics: null}),
  prepareForCreate: dropCarriers,
  prepareForUpdate: dropCarriers,
});

/** v1 carries what it has no field for in these. Written as v2 they would be read as fields by the next who asks for v1. */
const carriers = /^autoscaling\.alpha\.kubernetes\.io\/(metrics|behavior|current-metrics|conditions|scale-(up|down)-tolerance)$/;

function dropCarriers({metadata}: KubeObject): void {
  const {annotations} = metadata;
  if (!annotations) return;
  for (const name of Object.keys(annotations)) if (carriers.test(name)) delete annotations[name];
  if (Object.keys(annotations).length === 0) delete metadata.annotations;
}
