/** The node as the API shows it: pure, from what the machine has and how the agent is. */
import type {KubeObject} from '../../shared/object.ts';
import {compareQuantity, subtractQuantity} from '../../shared/schema/quantity.ts';
import type {Resources} from '../pods/pod.ts';
import type {Image, RuntimeVersion} from '../runtime/runtime.ts';
import {secondsOf} from '../status/pod-status.ts';
import type {Machine} from './machine.ts';

export interface NodeFacts {
  name: string;
  machine: Machine;
  diskBytes: number;
  addresses: readonly {type: string; address: string}[];
  maxPods: number;
  reserved: readonly Resources[];
  /** What eviction would not let be used, by resource. */
  evictionReserve: Resources;
  port: number;
  runtime: RuntimeVersion | undefined;
  agentVersion: string;
  images: readonly Image[];
  maxImages: number;
  /** Why the node cannot run pods; undefined: it can. */
  notReady: string | undefined;
  pressure: {memory: boolean; disk: boolean; pids: boolean};
  now: number;
  previous?: KubeObject['status'];
}

export function capacityOf({machine, diskBytes, maxPods}: Pick<NodeFacts, 'machine' | 'diskBytes' | 'maxPods'>): Resources {
  return {
    cpu: String(machine.cpus),
    'ephemeral-storage': `${Math.floor(diskBytes / 1024)}Ki`,
    ...machine.hugepages,
    memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
    pods: String(maxPods),
  };
}

export function allocatableOf(facts: Pick<NodeFacts, 'machine' | 'diskBytes' | 'maxPods' | 'reserved' | 'evictionReserve'>): Resources {
  const result = capacityOf(facts);
  // The disk in whole bytes, as it is shared out.
  result['ephemeral-storage'] = String(Math.floor(facts.diskBytes / 1024) * 1024);
  for (const list of [...facts.reserved, facts.evictionReserve]) {
    for (const [name, amount] of Object.entries(list)) {
      const have = result[name];
      if (have === undefined) continue;
      result[name] = compareQuantity(have, amount) > 0 ? subtractQuantity(have, amount) : '0';
    }
  }
  return result;
}

export function nodeStatus(facts: NodeFacts): Record<string, unknown> {
  const {machine, runtime, agentVersion, images, maxImages, port, addresses} = facts;
  return {
    capacity: capacityOf(facts),
    allocatable: allocatableOf(facts),
    conditions: conditionsOf(facts),
    addresses,
    daemonEndpoints: {kubeletEndpoint: {Port: port}},
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernel,
      osImage: machine.osImage,
      containerRuntimeVersion: runtime ? `${runtime.runtimeName}://${runtime.runtimeVersion}` : '',
      kubeletVersion: agentVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: machine.architecture,
    },
    images: imagesOf(images, maxImages),
  };
}

const namesPerImage = 5;

function imagesOf(images: readonly Image[], most: number): {names: string[]; sizeBytes: number}[] {
  const all = [...images]
    .sort((a, b) => b.size - a.size)
    .map(({repoTags, repoDigests, size}) => ({names: [...repoDigests, ...repoTags].slice(0, namesPerImage), sizeBytes: size}));
  return most < 0 ? all : all.slice(0, most);
}

function conditionsOf({notReady, pressure, now, previous}: NodeFacts): Record<string, string>[] {
  const heartbeat = secondsOf(now);
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => {
    const before = previous?.conditions?.find((entry: {type: string}) => entry.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : heartbeat;
    return {type, status, lastHeartbeatTime: heartbeat, lastTransitionTime, reason, message};
  };
  const under = (type: string, is: boolean, bad: string, good: string, what: string) =>
    is ? condition(type, 'True', bad, `kubelet has ${what.replace('no ', '')}`) : condition(type, 'False', good, `kubelet has ${what}`);
  return [
    under(
      'MemoryPressure',
      pressure.memory,
      'KubeletHasInsufficientMemory',
      'KubeletHasSufficientMemory',
      pressure.memory ? 'insufficient memory available' : 'sufficient memory available',
    ),
    under('DiskPressure', pressure.disk, 'KubeletHasDiskPressure', 'KubeletHasNoDiskPressure', 'no disk pressure'),
    under(
      'PIDPressure',
      pressure.pids,
      'KubeletHasInsufficientPID',
      'KubeletHasSufficientPID',
      pressure.pids ? 'insufficient PID available' : 'sufficient PID available',
    ),
    notReady
      ? condition('Ready', 'False', 'KubeletNotReady', notReady)
      : condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}

export interface NodeSpecFacts {
  name: string;
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  taints: {key: string; value?: string; effect: string}[];
  unschedulable: boolean;
  providerId: string;
  architecture: string;
  controllerAttach: boolean;
}

export function newNode(spec: NodeSpecFacts): KubeObject {
  const {name, labels, taints, unschedulable, providerId, architecture, controllerAttach} = spec;
  const annotations = {
    ...(controllerAttach && {'volumes.kubernetes.io/controller-managed-attach-detach': 'true'}),
    ...spec.annotations,
  };
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: {...defaultLabels(name, architecture), ...labels},
      ...(Object.keys(annotations).length > 0 && {annotations}),
    },
    spec: {
      ...(providerId && {providerID: providerId}),
      ...(unschedulable && {unschedulable: true}),
      ...(taints.length > 0 && {taints}),
    },
  };
}

export const defaultLabels = (name: string, architecture: string): Record<string, string> => ({
  'beta.kubernetes.io/arch': architecture,
  'beta.kubernetes.io/os': 'linux',
  'kubernetes.io/arch': architecture,
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': 'linux',
});
