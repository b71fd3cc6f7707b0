/** HorizontalPodAutoscaler v1 and v2. What v1 has no field for, it carries in annotations. Stored as v2. */
import type {KubeObject} from '../object.ts';

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const currentMetricsAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';

// biome-ignore lint/suspicious/noExplicitAny: shapes of two versions, described by data
type Part = any;

export function scalerFromV1(object: KubeObject): KubeObject {
  const annotations = {...object.metadata.annotations};
  const take = (name: string): Part => {
    const text = annotations[name];
    delete annotations[name];
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const {scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: target} = object.spec ?? {};
  const status = object.status ?? {};
  const {currentCPUUtilizationPercentage: current, ...rest} = status;
  const metrics: Part[] = (take(metricsAnnotation) ?? []).map(metricFromV1);
  if (target !== undefined) metrics.unshift(cpuMetric({type: 'Utilization', averageUtilization: target}));
  const currentMetrics: Part[] = (take(currentMetricsAnnotation) ?? []).map(currentFromV1);
  if (current !== undefined && !currentMetrics.some((metric) => metric.resource?.name === 'cpu'))
    currentMetrics.unshift({type: 'Resource', resource: {name: 'cpu', current: {averageUtilization: current}}});
  const conditions = take(conditionsAnnotation);
  const behavior = take(behaviorAnnotation);
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, annotations),
    spec: {
      scaleTargetRef,
      ...(minReplicas !== undefined && {minReplicas}),
      maxReplicas,
      ...(metrics.length > 0 && {metrics}),
      ...(behavior && {behavior}),
    },
    status: {
      ...rest,
      desiredReplicas: rest.desiredReplicas ?? 0,
      currentMetrics: currentMetrics.length > 0 ? currentMetrics : null,
      ...(conditions && {conditions}),
    },
  };
}

export function scalerToV1(object: KubeObject): KubeObject {
  const annotations = {...object.metadata.annotations};
  const {scaleTargetRef, minReplicas, maxReplicas, metrics = [], behavior} = object.spec ?? {};
  const {currentMetrics, conditions, ...status} = object.status ?? {};
  const isCpu = (metric: Part) => metric.type === 'Resource' && metric.resource?.name === 'cpu';
  const cpu = metrics.find((metric: Part) => isCpu(metric) && metric.resource.target?.averageUtilization !== undefined);
  const others = metrics.filter((metric: Part) => metric !== cpu);
  if (others.length > 0) annotations[metricsAnnotation] = JSON.stringify(others.map(metricToV1));
  if (behavior) annotations[behaviorAnnotation] = JSON.stringify(behavior);
  if (conditions?.length > 0) annotations[conditionsAnnotation] = JSON.stringify(conditions);
  const current = (currentMetrics ?? []).find((metric: Part) => isCpu(metric) && metric.resource.current?.averageUtilization !== undefined);
  if (currentMetrics?.length > 0) annotations[currentMetricsAnnotation] = JSON.stringify(currentMetrics.map(currentToV1));
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, annotations),
    spec: {
      scaleTargetRef,
      ...(minReplicas !== undefined && {minReplicas}),
      maxReplicas,
      ...(cpu && {targetCPUUtilizationPercentage: cpu.resource.target.averageUtilization}),
    },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      desiredReplicas: status.desiredReplicas ?? 0,
      ...(current && {currentCPUUtilizationPercentage: current.resource.current.averageUtilization}),
    },
  };
}

const cpuMetric = (target: Part): Part => ({type: 'Resource', resource: {name: 'cpu', target}});

function withAnnotations(object: KubeObject, annotations: Record<string, string>): KubeObject['metadata'] {
  const {annotations: _annotations, ...rest} = object.metadata;
  return Object.keys(annotations).length > 0 ? {...rest, annotations} : rest;
}

/** The old form names the kinds of target by separate fields. */
function metricFromV1(metric: Part): Part {
  const {type, resource, pods, object, external, containerResource} = metric;
  const utilization = (source: Part) =>
    source.targetAverageUtilization !== undefined
      ? {type: 'Utilization', averageUtilization: source.targetAverageUtilization}
      : {type: 'AverageValue', averageValue: source.targetAverageValue};
  if (resource) return {type, resource: {name: resource.name, target: utilization(resource)}};
  if (containerResource) return {type, containerResource: {name: containerResource.name, target: utilization(containerResource), container: containerResource.container}};
  if (pods) return {type, pods: {metric: metricOf(pods), target: {type: 'AverageValue', averageValue: pods.targetAverageValue}}};
  if (object)
    return {
      type,
      object: {
        describedObject: object.target,
        target: object.averageValue ? {type: 'AverageValue', averageValue: object.averageValue} : {type: 'Value', value: object.targetValue},
        metric: metricOf(object),
      },
    };
  if (external)
    return {
      type,
      external: {
        metric: {name: external.metricName, ...(external.metricSelector && {selector: external.metricSelector})},
        target: external.targetAverageValue ? {type: 'AverageValue', averageValue: external.targetAverageValue} : {type: 'Value', value: external.targetValue},
      },
    };
  return metric;
}

const metricOf = (source: Part): Part => ({name: source.metricName, ...(source.selector && {selector: source.selector})});

function metricToV1(metric: Part): Part {
  const {type, resource, pods, object, external, containerResource} = metric;
  const targets = ({target}: Part) => ({
    ...(target?.averageUtilization !== undefined && {targetAverageUtilization: target.averageUtilization}),
    ...(target?.averageValue !== undefined && {targetAverageValue: target.averageValue}),
  });
  const named = ({metric: of}: Part) => ({metricName: of?.name, ...(of?.selector && {selector: of.selector})});
  if (resource) return {type, resource: {name: resource.name, ...targets(resource)}};
  if (containerResource) return {type, containerResource: {name: containerResource.name, ...targets(containerResource), container: containerResource.container}};
  if (pods) return {type, pods: {...named(pods), targetAverageValue: pods.target?.averageValue}};
  if (object)
    return {
      type,
      object: {
        target: object.describedObject,
        metricName: object.metric?.name,
        targetValue: object.target?.value ?? '0',
        ...(object.metric?.selector && {selector: object.metric.selector}),
        ...(object.target?.averageValue !== undefined && {averageValue: object.target.averageValue}),
      },
    };
  if (external)
    return {
      type,
      external: {
        metricName: external.metric?.name,
        ...(external.metric?.selector && {metricSelector: external.metric.selector}),
        ...(external.target?.value !== undefined && {targetValue: external.target.value}),
        ...(external.target?.averageValue !== undefined && {targetAverageValue: external.target.averageValue}),
      },
    };
  return metric;
}

function currentFromV1(metric: Part): Part {
  const {type, resource} = metric;
  if (!resource) return metric;
  const {name, currentAverageUtilization, currentAverageValue} = resource;
  return {
    type,
    resource: {
      name,
      current: {
        ...(currentAverageValue !== undefined && {averageValue: currentAverageValue}),
        ...(currentAverageUtilization !== undefined && {averageUtilization: currentAverageUtilization}),
      },
    },
  };
}

function currentToV1(metric: Part): Part {
  const {type, resource} = metric;
  if (!resource) return metric;
  const {name, current = {}} = resource;
  return {
    type,
    resource: {
      name,
      ...(current.averageUtilization !== undefined && {currentAverageUtilization: current.averageUtilization}),
      currentAverageValue: current.averageValue ?? '0',
    },
  };
}
