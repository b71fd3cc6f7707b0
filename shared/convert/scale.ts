/** Scale: the replicas of a workload, to and from it. */
import type {KubeObject} from '../object.ts';
import {formatLabelSelector, type Operator, type Requirement} from '../selector/labels.ts';

export function scaleOf(parent: KubeObject): KubeObject {
  const {name, namespace, uid, resourceVersion, creationTimestamp} = parent.metadata;
  const selector = selectorText(parent);
  const replicas = parent.spec?.replicas;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name && {name}),
      ...(namespace && {namespace}),
      ...(uid && {uid}),
      ...(resourceVersion && {resourceVersion}),
      ...(creationTimestamp && {creationTimestamp}),
    },
    spec: replicas ? {replicas} : {},
    status: {replicas: parent.status?.replicas ?? 0, ...(selector && {selector})},
  };
}

/** Takes the replicas over; everything else of a Scale belongs to its workload. */
export function applyScale(parent: KubeObject, scale: KubeObject): void {
  parent.spec = {...parent.spec, replicas: scale.spec?.replicas ?? 0};
}

const operators: Record<string, Operator> = {In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!'};

function selectorText(parent: KubeObject): string {
  const selector = parent.spec?.selector ?? {};
  // A ReplicationController's selector is a plain map.
  const isMap = parent.kind === 'ReplicationController';
  const labels: Record<string, string> = isMap ? selector : (selector.matchLabels ?? {});
  const requirements: Requirement[] = Object.entries(labels).map(([key, value]) => ({key, operator: '=', values: [value]}));
  for (const {key, operator, values} of isMap ? [] : (selector.matchExpressions ?? []))
    requirements.push({key, operator: operators[operator] ?? 'in', values: [...(values ?? [])].sort()});
  return formatLabelSelector(requirements.sort((a, b) => (a.key < b.key ? -1 : 1)));
}
