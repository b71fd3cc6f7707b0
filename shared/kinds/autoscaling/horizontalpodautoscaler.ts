/** How many replicas a workload should have. Kept as autoscaling/v2. */
import {define} from '../define.ts';

export const horizontalPodAutoscaler = define({newStatus: () => ({desiredReplicas: 0, currentMetrics: null})});
