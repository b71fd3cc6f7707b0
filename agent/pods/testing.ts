/** Pods, instances and a whole node of fakes, for tests. */

import {mkdtemp} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemClock} from '../../shared/clock.ts';
import {noCgroups} from '../cgroups/cgroups.ts';
import type {Recorder} from '../events/recorder.ts';
import {Puller} from '../images/puller.ts';
import {Prober} from '../probes/prober.ts';
import type {FakeRuntime} from '../runtime/fake.ts';
import {containerState} from '../runtime/runtime.ts';
import type {StatusSink} from '../status/writer.ts';
import {Volumes} from '../volumes/volumes.ts';
import type {PodContext} from './context.ts';
import {PodManager} from './manager.ts';
import {type ContainerKind, containerHash} from './names.ts';
import type {Instance, Observed} from './plan.ts';
import type {Container, Pod, PodSpec, PodStatus} from './pod.ts';
import {Slots} from './slots.ts';

export function podOf(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name: 'p', namespace: 'ns', uid: '00000000-0000-0000-0000-000000000001', ...metadata},
    spec: {containers: [containerOf('c')], restartPolicy: 'Always', terminationGracePeriodSeconds: 1, enableServiceLinks: false, ...spec},
  };
}

export const containerOf = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...more,
});

type State = keyof typeof containerState;

let serial = 0;

export function instanceOf(
  container: Container,
  state: State,
  more: {exitCode?: number; sandboxId?: string; restarts?: number; kind?: ContainerKind; finishedAt?: number} = {},
): Instance {
  serial += 1;
  const {exitCode = 0, sandboxId = 's1', restarts = 0, kind = 'app', finishedAt = 2e15} = more;
  const id = `${container.name}-${serial}`;
  return {
    id,
    name: container.name,
    sandboxId,
    notes: {hash: containerHash(container), restarts, messagePath: '', messagePolicy: 'File', kind, graceSeconds: 30, ports: []},
    status: {
      ...{
        id,
        metadata: {name: container.name, attempt: restarts},
        state: containerState[state],
        createdAt: serial,
        startedAt: state === 'created' ? 0 : 1e15,
      },
      ...{
        finishedAt: state === 'exited' ? finishedAt : 0,
        exitCode,
        image: {image: ''},
        imageRef: 'img@sha256:1',
        reason: '',
        message: '',
        labels: {},
        annotations: {},
        logPath: '',
      },
    },
  };
}

/** Newest first within a name, in the order given. */
export function observedOf(instances: readonly Instance[], sandboxReady: boolean | undefined): Observed {
  const byName = new Map<string, Instance[]>();
  for (const instance of instances) byName.set(instance.name, [...(byName.get(instance.name) ?? []), instance]);
  return {sandboxes: sandboxReady === undefined ? [] : [{id: 's1', attempt: 0, ready: sandboxReady, ips: ['10.9.0.1']}], instances: byName};
}

export interface FakeNode {
  manager: PodManager;
  context: PodContext;
  events: string[];
  statuses: Map<string, PodStatus[]>;
  deleted: string[];
  /** As a source would say. */
  api(...pods: Pod[]): void;
  until(condition: () => boolean, what: string): Promise<void>;
  latest(uid?: string): PodStatus | undefined;
}

const silent = () => {};

/** A node on this runtime, in a folder of its own; nothing that needs rights. */
export async function fakeNode(runtime: FakeRuntime, more: Partial<PodContext> = {}): Promise<FakeNode> {
  const root = await mkdtemp(join(tmpdir(), 'nodeagent-'));
  const events: string[] = [];
  const statuses = new Map<string, PodStatus[]>();
  const deleted: string[] = [];
  const recorder: Recorder = {
    event: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
    warned: () => undefined,
  };
  const status: StatusSink = {
    write: (pod, next) => void statuses.set(pod.metadata.uid, [...(statuses.get(pod.metadata.uid) ?? []), next]),
    settled: async () => {},
    forget: silent,
  };
  const mounter = {mount: async () => {}, bind: async () => {}, unmount: async () => {}, below: async () => []};
  const clock = systemClock;
  const prober = new Prober(runtime, {
    changed: (uid) => manager.worker(uid)?.probesChanged(),
    unhealthy: (_, container, message) => void events.push(`Warning Unhealthy ${container}: ${message}`),
    count: silent,
  });
  const context: PodContext = {
    ...{runtime, runtimeName: () => 'fake', clock, prober, recorder, status},
    puller: new Puller({runtime, clock, serialize: true}),
    volumes: new Volumes({root: join(root, 'pods'), memory: join(root, 'memory'), mounter, canMount: false}),
    cgroups: noCgroups,
    references: {configMap: async () => undefined, secret: async () => undefined, follow: silent, unfollow: silent},
    token: async () => 'token',
    serviceVariables: async () => new Map(),
    hostIps: () => ['192.0.2.1'],
    allocatable: () => ({cpu: '2', memory: '4Gi', pods: '110'}),
    admit: () => undefined,
    deletePod: async ({metadata}) => void deleted.push(metadata.uid),
    runtimeHandler: async () => '',
    pullSecrets: async () => [],
    settings: {
      ...{logRoot: join(root, 'logs'), rootDir: root, keepTerminatedVolumes: false, dead: {perContainer: 1, total: -1, minAgeMs: 0}},
      dns: async () => ({clusterDns: ['10.0.0.10'], clusterDomain: 'cluster.local', host: ''}),
      resources: {cfsQuota: true, cfsPeriodMicros: 100_000, memoryBytes: 4 * 2 ** 30},
      security: {seccompRoot: '/seccomp', seccompDefault: false},
    },
    starts: new Slots(8),
    log: {
      error: (text, error) => void events.push(`log ${text} ${error instanceof Error ? error.message : ''}`),
      warn: silent,
      info: silent,
      debug: silent,
    },
    ...more,
  };
  const manager = new PodManager({context, clock, sources: ['api']});
  manager.start();
  return {
    ...{manager, context, events, statuses, deleted},
    api: (...pods) => manager.replace('api', pods),
    latest: (uid = podOf().metadata.uid) => statuses.get(uid)?.at(-1),
    async until(condition, what) {
      for (const end = Date.now() + 5000; !condition(); ) {
        if (Date.now() > end)
          throw new Error(
            `never: ${what}\n${JSON.stringify({events, statuses: [...statuses.values()].map((list) => list.at(-1)), calls: runtime.calls}, null, 1)}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}
