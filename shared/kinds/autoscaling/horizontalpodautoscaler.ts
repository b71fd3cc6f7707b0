/** How many replicas a workload should have. Kept as autoscaling/v2. */
import {define} from '../define.ts';
import {validateHorizontalPodAutoscaler, validateHorizontalPodAutoscalerUpdate} from './horizontalpodautoscaler.validate.ts';

export const horizontalPodAutoscaler = define({
  validate: (object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: (object, old, {subresource}) => validateHorizontalPodAutoscalerUpdate(object, old, subresource),
  newStatus: () => ({desiredReplicas: 0, currentMetrics: null}),
});
