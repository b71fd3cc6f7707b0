/** A horizontal autoscaler: by processor load where it names no metric, and both directions described where one is. */
import {type Defaults, isEmptyList} from '../common/defaulter.ts';
import type {Part} from '../common/loose.ts';

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const cpuUtilizationPercent = 80;

const scaleUp = (): Part => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    {type: 'Pods', value: 4, periodSeconds: 15},
    {type: 'Percent', value: 100, periodSeconds: 15},
  ],
});
/** Its window is an option of the controller, so nothing stands here. */
const scaleDown = (): Part => ({selectPolicy: 'Max', policies: [{type: 'Percent', value: 100, periodSeconds: 15}]});

export const horizontalPodAutoscalerDefaults: Defaults = {
  'autoscaling/v1.HorizontalPodAutoscaler': ({metadata, spec}) => {
    spec.minReplicas ??= 1;
    // Metrics that the older version has no field for stand in an annotation.
    if (metadata.annotations?.[metricsAnnotation] === undefined) spec.targetCPUUtilizationPercentage ??= cpuUtilizationPercent;
  },
  'autoscaling/v2.HorizontalPodAutoscaler': ({spec}) => {
    spec.minReplicas ??= 1;
    if (isEmptyList(spec.metrics)) {
      const target = {type: 'Utilization', averageUtilization: cpuUtilizationPercent};
      spec.metrics = [{type: 'Resource', resource: {name: 'cpu', target}}];
    }
    const {behavior} = spec;
    if (!behavior) return;
    behavior.scaleUp = {...scaleUp(), ...behavior.scaleUp};
    behavior.scaleDown = {...scaleDown(), ...behavior.scaleDown};
  },
};
