/** What the binder keeps of pods and nodes: ten thousand whole pods would be most of the process. Pure. */
import type {Projection} from '../../changes/object-cache.ts';
import type {KubeObject} from '../../object.ts';
import {namedNodes, type Term} from '../../selector/node-selector.ts';
import {type Amounts, amountsOf, podRequests} from './requests.ts';
import {type Taint, type Toleration, taintsByCondition} from './taints.ts';

export interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

/** Of a pod that holds room on a node. */
export interface Placement {
  node: string;
  requests: Amounts;
  /** With a small amount where a container asks for nothing, so that such pods spread as well. */
  weight: Amounts;
  ports: readonly HostPort[];
}

/** What a pod that waits asks for. */
export interface Demand extends Omit<Placement, 'node'> {
  selector: Readonly<Record<string, string>>;
  terms: readonly Term[] | undefined;
  /** The only nodes that the terms let it have, by name. */
  named: ReadonlySet<string> | undefined;
  preferred: readonly {weight: number; preference: Term}[];
  tolerations: readonly Toleration[];
}

export interface NodeView {
  name: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  unschedulable: boolean;
  allocatable: Amounts;
}

export const schedulerName = 'default-scheduler';
export const anywhere = '0.0.0.0';
const floor: Amounts = {cpu: 100, memory: 200 * 1024 * 1024};

/** Pods that hold room, under `placement`; whole those that wait for us. All others are nothing to the binder. */
export const keptOfPods: Projection = (_key, image) => {
  const pod = JSON.parse(Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString()) as KubeObject;
  const {metadata, spec, status} = pod;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  if (spec.nodeName) {
    const kept = {name: metadata.name!, namespace: metadata.namespace!, uid: metadata.uid!};
    return {kind: '', apiVersion: '', metadata: kept, placement: placementOf(pod, spec.nodeName)};
  }
  const isOurs = spec.schedulerName === schedulerName && !spec.schedulingGates?.length && !metadata.deletionTimestamp;
  if (!isOurs) return undefined;
  delete metadata.managedFields;
  return pod;
};

export const placementOf = (pod: KubeObject, node: string): Placement => ({
  node,
  requests: podRequests(pod),
  weight: podRequests(pod, floor),
  ports: hostPorts(pod),
});

export function demandOf(pod: KubeObject): Demand {
  const {spec} = pod;
  const affinity = spec.affinity?.nodeAffinity;
  const {node: _node, ...needs} = placementOf(pod, '');
  const terms: Term[] | undefined = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return {
    ...needs,
    selector: spec.nodeSelector ?? {},
    terms,
    named: terms && namedNodes(terms),
    preferred: affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [],
    tolerations: spec.tolerations ?? [],
  };
}

const hostPorts = ({spec}: KubeObject): HostPort[] =>
  [...spec.containers, ...(spec.initContainers ?? []).filter((each: KubeObject) => each['restartPolicy'] === 'Always')].flatMap(
    ({ports = []}) =>
      ports.flatMap(({hostPort, protocol, hostIP}: {hostPort?: number; protocol?: string; hostIP?: string}) =>
        hostPort ? [{port: hostPort, protocol: protocol || 'TCP', ip: hostIP || anywhere}] : [],
      ),
  );

/** Its taints are those that its conditions call for: whoever keeps them on the object may be late, or not be there. */
export function nodeView({metadata, spec = {}, status = {}}: KubeObject): NodeView {
  return {
    name: metadata.name!,
    labels: metadata.labels ?? {},
    taints: taintsByCondition(spec.taints ?? [], status.conditions ?? [], spec.unschedulable ?? false),
    unschedulable: spec.unschedulable ?? false,
    allocatable: amountsOf(status.allocatable),
  };
}

/** Of a node all that its view is made of; the rest, such as its images, is most of it. */
export const keptOfNodes: Projection = (_key, image) => {
  const {metadata, spec, status} = JSON.parse(Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString()) as KubeObject;
  const conditions = (status?.conditions ?? []).map(({type, status: value}: {type: string; status: string}) => ({type, status: value}));
  const {taints, unschedulable} = spec ?? {};
  return {
    kind: '',
    apiVersion: '',
    metadata: {name: metadata.name!, ...(metadata.labels && {labels: metadata.labels}), resourceVersion: metadata.resourceVersion!},
    spec: {...(taints && {taints}), ...(unschedulable && {unschedulable})},
    status: {conditions, allocatable: status?.allocatable ?? {}},
  };
};
