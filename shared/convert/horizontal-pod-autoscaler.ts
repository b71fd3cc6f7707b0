/**
 * HorizontalPodAutoscaler v1 and v2, stored as v2. What v1 has no field for it carries as JSON in annotations; they exist in v1 only, and
 * what somebody wrote into them that is no such JSON counts as nothing.
 */
import type {Json, JsonObject, KubeObject} from '../object.ts';
import {DecodeError, normalize} from '../schema/decode.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';
const metricsAnnotation = `${prefix}metrics`;
const currentMetricsAnnotation = `${prefix}current-metrics`;
const conditionsAnnotation = `${prefix}conditions`;
const behaviorAnnotation = `${prefix}behavior`;
const roundTripAnnotations = [
  metricsAnnotation,
  currentMetricsAnnotation,
  conditionsAnnotation,
  behaviorAnnotation,
  `${prefix}scale-down-tolerance`,
  `${prefix}scale-up-tolerance`,
];
/** What a v1 object that names no metric at all is scaled by. */
const defaultCpuUtilization = 80;

// biome-ignore lint/suspicious/noExplicitAny: parts of two versions, described by data
type Part = any;

export function scalerFromV1(object: KubeObject): KubeObject {
  const {targetCPUUtilizationPercentage: target, ...spec} = object.spec ?? {};
  const {currentCPUUtilizationPercentage: current, ...status} = object.status ?? {};
  const annotations = object.metadata.annotations ?? {};
  const others = annotated('spec', 'metrics', listOf(annotations[metricsAnnotation], metricFromV1)) ?? [];
  const metrics = target === undefined ? others : [...others, cpuByUtilization(target)];
  const behavior = annotated('spec', 'behavior', behaviorFromV1(annotations[behaviorAnnotation]));
  const currentMetrics =
    annotated('status', 'currentMetrics', listOf(annotations[currentMetricsAnnotation], currentFromV1)) ??
    (current === undefined ? null : [{type: 'Resource', resource: {name: 'cpu', current: {averageUtilization: current}}}]);
  const conditions = annotated(
    'status',
    'conditions',
    listOf(annotations[conditionsAnnotation], (condition) => condition),
  );
  const {desiredReplicas = 0, currentReplicas, ...times} = status;
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v2',
    metadata: annotate(object, {}),
    spec: {...spec, metrics: metrics.length > 0 ? metrics : [cpuByUtilization(defaultCpuUtilization)], ...(behavior && {behavior})},
    status: {...times, ...(currentReplicas && {currentReplicas}), desiredReplicas, currentMetrics, ...(conditions && {conditions})},
  };
}

export function scalerToV1(object: KubeObject): KubeObject {
  const {metrics = [], behavior, ...spec} = object.spec ?? {};
  const {currentMetrics, conditions, currentReplicas = 0, desiredReplicas = 0, ...times} = object.status ?? {};
  const byUtilization = (metric: Part): boolean => isCpu(metric) && metric.resource.target?.averageUtilization !== undefined;
  const cpu = (metrics ?? []).find(byUtilization);
  const others = (metrics ?? []).filter((metric: Part) => !byUtilization(metric));
  const cpuNow = (currentMetrics ?? []).findLast(
    (metric: Part) => isCpu(metric) && metric.resource.current?.averageUtilization !== undefined,
  );
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v1',
    metadata: annotate(object, {
      [behaviorAnnotation]: behavior && behaviorToV1(behavior),
      [conditionsAnnotation]: conditions?.length > 0 && conditions.map(conditionToV1),
      [currentMetricsAnnotation]: currentMetrics?.length > 0 && currentMetrics.map(currentToV1),
      [metricsAnnotation]: others.length > 0 && others.map(metricToV1),
    }),
    spec: {...spec, ...(cpu && {targetCPUUtilizationPercentage: cpu.resource.target.averageUtilization})},
    status: {
      ...times,
      currentReplicas,
      desiredReplicas,
      ...(cpuNow && {currentCPUUtilizationPercentage: cpuNow.resource.current.averageUtilization}),
    },
  };
}

const isCpu = (metric: Part): boolean => metric.type === 'Resource' && metric.resource?.name === 'cpu';
const cpuByUtilization = (averageUtilization: number): Part => ({
  type: 'Resource',
  resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization}},
});

/** Metadata with these annotations and none of those that an older conversion left; sorted, and in their place, as they are served. */
function annotate(object: KubeObject, added: Record<string, Part>): KubeObject['metadata'] {
  const {annotations: given = {}, ownerReferences, finalizers, managedFields, ...metadata} = object.metadata;
  const annotations = {...given};
  for (const name of roundTripAnnotations) delete annotations[name];
  for (const [name, value] of Object.entries(added)) if (value) annotations[name] = goJson(value);
  const names = Object.keys(annotations).sort();
  return {
    ...metadata,
    ...(names.length > 0 && {annotations: Object.fromEntries(names.map((name) => [name, annotations[name]!]))}),
    ...(ownerReferences && {ownerReferences}),
    ...(finalizers && {finalizers}),
    ...(managedFields && {managedFields}),
  };
}

const goJson = (value: Json): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What an annotation said, as a field of v2 that holds what its type allows; undefined when it does not. */
function annotated(part: 'spec' | 'status', field: string, value: Part): Part {
  if (value === undefined) return undefined;
  try {
    return normalize({[part]: {[field]: value}}, {group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler'})[part][field];
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function listOf(text: string | undefined, convert: (item: Part) => Part): Part[] | undefined {
  const list = parsed(text);
  if (!Array.isArray(list) || !list.every(isObject)) return undefined;
  return list.map(convert);
}

function parsed(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: Part): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Behavior was written with the names of an internal type, and is read whatever the case. */
const behaviorFields = [
  'scaleUp',
  'scaleDown',
  'stabilizationWindowSeconds',
  'selectPolicy',
  'policies',
  'tolerance',
  'type',
  'value',
  'periodSeconds',
];
const behaviorNames = new Map(behaviorFields.map((name) => [name.toLowerCase(), name]));

function behaviorFromV1(text: string | undefined): Part {
  const behavior = renamed(parsed(text) ?? null);
  return isObject(behavior) && (behavior.scaleUp || behavior.scaleDown) ? behavior : undefined;
}

function renamed(value: Json): Json {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isObject(value)) return value;
  const known = Object.entries(value).filter(([name, inner]) => behaviorNames.has(name.toLowerCase()) && inner !== null);
  return Object.fromEntries(known.map(([name, inner]) => [behaviorNames.get(name.toLowerCase())!, renamed(inner)]));
}

const behaviorToV1 = ({scaleUp, scaleDown}: Part): Part => ({ScaleUp: rulesToV1(scaleUp), ScaleDown: rulesToV1(scaleDown)});

const rulesToV1 = (rules: Part): Part =>
  rules
    ? {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({type, value, periodSeconds}: Part) => ({Type: type, Value: value, PeriodSeconds: periodSeconds})) ?? null,
        Tolerance: rules.tolerance ?? null,
      }
    : null;

const conditionToV1 = ({type, status, lastTransitionTime, reason, message}: Part): Part => ({
  type,
  status,
  lastTransitionTime: lastTransitionTime ?? null,
  ...(reason && {reason}),
  ...(message && {message}),
});

/** v1 named the metric and its target side by side, and each kind of target by a field of its own. */
function metricFromV1({type, object, pods, resource, containerResource, external}: Part): Part {
  const utilizationOr = ({targetAverageUtilization: averageUtilization, targetAverageValue: averageValue}: Part): Part => ({
    type: isThere(averageUtilization) ? 'Utilization' : 'AverageValue',
    averageValue,
    averageUtilization,
  });
  return {
    type,
    object: isObject(object)
      ? {
          describedObject: object.target,
          target: isThere(object.averageValue)
            ? {type: 'AverageValue', value: isZero(object.targetValue) ? null : object.targetValue, averageValue: object.averageValue}
            : {type: 'Value', value: object.targetValue ?? '0'},
          metric: {name: object.metricName, selector: object.selector},
        }
      : object,
    pods: isObject(pods)
      ? {
          metric: {name: pods.metricName, selector: pods.selector},
          target: {type: 'AverageValue', averageValue: pods.targetAverageValue ?? '0'},
        }
      : pods,
    resource: isObject(resource) ? {name: resource.name, target: utilizationOr(resource)} : resource,
    containerResource: isObject(containerResource)
      ? {name: containerResource.name, target: utilizationOr(containerResource), container: containerResource.container}
      : containerResource,
    external: isObject(external)
      ? {
          metric: {name: external.metricName, selector: external.metricSelector},
          target: {
            type: isThere(external.targetValue) ? 'Value' : 'AverageValue',
            value: external.targetValue,
            averageValue: external.targetAverageValue,
          },
        }
      : external,
  };
}

function metricToV1({type, object, pods, resource, containerResource, external}: Part): Part {
  const targets = ({target}: Part): Part => ({
    targetAverageUtilization: target?.averageUtilization,
    targetAverageValue: target?.averageValue,
  });
  return {
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric?.name,
      targetValue: object.target?.value ?? '0',
      selector: object.metric?.selector,
      averageValue: object.target?.averageValue,
    },
    pods: pods && {metricName: pods.metric?.name, targetAverageValue: pods.target?.averageValue ?? '0', selector: pods.metric?.selector},
    resource: resource && {name: resource.name, ...targets(resource)},
    containerResource: containerResource && {
      name: containerResource.name,
      ...targets(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: external.metric?.selector,
      targetValue: external.target?.value,
      targetAverageValue: external.target?.averageValue,
    },
  };
}

function currentFromV1({type, object, pods, resource, containerResource, external}: Part): Part {
  const used = ({currentAverageValue, currentAverageUtilization: averageUtilization}: Part): Part => ({
    averageValue: currentAverageValue ?? '0',
    averageUtilization,
  });
  return {
    type,
    object: isObject(object)
      ? {
          metric: {name: object.metricName, selector: object.selector},
          current: {value: object.currentValue ?? '0', averageValue: object.averageValue},
          describedObject: object.target,
        }
      : object,
    pods: isObject(pods)
      ? {metric: {name: pods.metricName, selector: pods.selector}, current: {averageValue: pods.currentAverageValue ?? '0'}}
      : pods,
    resource: isObject(resource) ? {name: resource.name, current: used(resource)} : resource,
    containerResource: isObject(containerResource)
      ? {name: containerResource.name, current: used(containerResource), container: containerResource.container}
      : containerResource,
    external: isObject(external)
      ? {
          metric: {name: external.metricName, selector: external.metricSelector},
          current: {value: external.currentValue ?? '0', averageValue: external.currentAverageValue},
        }
      : external,
  };
}

function currentToV1({type, object, pods, resource, containerResource, external}: Part): Part {
  const used = ({current}: Part): Part => ({
    currentAverageUtilization: current?.averageUtilization,
    currentAverageValue: current?.averageValue ?? '0',
  });
  return {
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric?.name,
      currentValue: object.current?.value ?? '0',
      selector: object.metric?.selector,
      averageValue: object.current?.averageValue,
    },
    pods: pods && {metricName: pods.metric?.name, currentAverageValue: pods.current?.averageValue ?? '0', selector: pods.metric?.selector},
    resource: resource && {name: resource.name, ...used(resource)},
    containerResource: containerResource && {
      name: containerResource.name,
      ...used(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: external.metric?.selector,
      currentValue: external.current?.value ?? '0',
      currentAverageValue: external.current?.averageValue,
    },
  };
}

const isThere = (value: Part): boolean => value !== undefined && value !== null;
const isZero = (quantity: Part): boolean => !isThere(quantity) || /^[+-]?0*\.?0*([a-zA-Z].*)?$/.test(String(quantity));
