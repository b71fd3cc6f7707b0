/** Scale: the replicas of a workload, to and from it. Who owns them is in apply/scale-fields.ts. */
import type {KubeObject} from '../object.ts';
import {type LabelSelectorObject, printLabelSelector, requirementsOf} from '../selector/labels.ts';

/** What deployments, replicasets, statefulsets and replicationcontrollers look like through their scale subresource. */
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

function selectorText({kind, spec}: KubeObject): string {
  // A ReplicationController's selector is a plain map.
  const selector: LabelSelectorObject = kind === 'ReplicationController' ? {matchLabels: spec?.selector} : (spec?.selector ?? {});
  return printLabelSelector(requirementsOf(selector));
}
