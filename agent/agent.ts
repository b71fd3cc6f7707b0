/** The agent, put together: from settings to a node that runs pods. Nothing here decides anything. */
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../shared/clock.ts';
import {isReason} from '../shared/errors.ts';
import type {KubeObject} from '../shared/object.ts';
import {type ApiClient, openClient} from './api/client.ts';
import {readClusterConfig, serverAccess} from './api/clusterconfig.ts';
import {withoutManagers} from './api/keep.ts';
import {ObjectReferences} from './api/references.ts';
import {Services} from './api/services.ts';
import {TokenBucket} from './api/token-bucket.ts';
import {TokenCache} from './api/tokens.ts';
import {openCgroups} from './cgroups/cgroups.ts';
import type {Settings} from './cli/settings.ts';
import {ApiRecorder, type Recorder, silentRecorder} from './events/recorder.ts';
import {LocalStorage} from './eviction/local-storage.ts';
import {ProbeCounts} from './figures/probe-counts.ts';
import {ImageCollector} from './images/collector.ts';
import {Puller} from './images/puller.ts';
import {Heartbeat} from './node/heartbeat.ts';
import {diskOf} from './node/machine.ts';
import {NodeState} from './node/node-state.ts';
import {Registrar} from './node/registrar.ts';
import {admit} from './pods/admission.ts';
import type {Log, PodContext} from './pods/context.ts';
import {DeadContainers} from './pods/dead-containers.ts';
import {LogRotation} from './pods/log-rotation.ts';
import {PodManager, type SourceName} from './pods/manager.ts';
import {allContainers, type Pod} from './pods/pod.ts';
import {bytesOf} from './pods/resources.ts';
import {Slots} from './pods/slots.ts';
import {Prober} from './probes/prober.ts';
import {PodApi, type PodApiOptions} from './proxy/pod-api.ts';
import {RemoteRuntime} from './runtime/cri/remote.ts';
import type {Runtime} from './runtime/runtime.ts';
import {Access} from './server/access.ts';
import {AgentServer} from './server/server.ts';
import {watchPods} from './sources/api.ts';
import {ApiMirrors} from './sources/mirrors.ts';
import {StaticSources} from './sources/statics.ts';
import {type StatusSink, StatusWriter} from './status/writer.ts';
import {serveDestination} from './tunnel/served.ts';
import {NodeTunnel} from './tunnel/tunnel.ts';
import {systemMounter} from './volumes/mounts.ts';
import {Volumes} from './volumes/volumes.ts';

export interface AgentOptions {
  settings: Settings;
  log: Log;
  clock: Clock;
  version: string;
  /** Another than --container-runtime-endpoint's, in tests. */
  runtime?: Runtime;
}

export interface Agent {
  name: string;
  manager: PodManager;
  state: NodeState;
  runtime: Runtime;
  client: ApiClient | undefined;
  /** Of pods that do not come from the API. */
  statics: StaticSources;
  /** Stops the agent, not its pods. */
  stop(): Promise<void>;
}

/** Of the files below --root-dir: another version of the agent must know what it finds. */
const formatVersion = '1';
const component = 'nodeagent';
const logRoot = '/var/log/pods';
const reportIntervalMs = 300_000;
/** The runtime's health is judged by its lists. */
const longestListMs = 120_000;
/** Starts at the same time; each is a few processes of the runtime's. */
const concurrentStarts = 8;

export async function startAgent(options: AgentOptions): Promise<Agent> {
  const {settings, log, clock, version} = options;
  const stops: (() => void)[] = [];
  const rootDir = settings.text('root-dir');
  await prepareRoot(rootDir);

  const once = settings.bool('runonce');
  const configFile = once ? '' : settings.text('clusterconfig');
  const limits = {qps: settings.number('cluster-api-qps') || 5, burst: settings.number('cluster-api-burst') || 10};
  const credentials = configFile ? await readClusterConfig(configFile) : undefined;
  const client = credentials && (await openClient({credentials, userAgent: `nodeagent/${version}`, ...limits, clock}));
  const runtime = options.runtime ?? remoteRuntime(settings);
  const state = await NodeState.open({settings, runtime, clock, rootDir, version, log});
  const name = state.name;

  const starts = new Slots(concurrentStarts);
  const recorder: Recorder = client
    ? new ApiRecorder({
        client,
        clock,
        component,
        host: name,
        perSecond: settings.number('event-qps') || 5,
        burst: settings.number('event-burst') || 10,
        onError: (error) => log.debug(`event: ${error.message}`),
        isBusy: () => starts.isFull,
      })
    : silentRecorder;
  const worker = (uid: string) => manager.worker(uid);
  const references = client ? new ObjectReferences(client, (uid) => worker(uid)?.referencesChanged()) : noReferences;
  const tokens = client && new TokenCache(client, clock, (uid) => worker(uid)?.referencesChanged());
  const podApi =
    credentials &&
    new PodApi({
      access: serverAccess(credentials),
      mode: settings.text('pod-api') as PodApiOptions['mode'],
      port: settings.number('pod-api-port'),
      folder: join(rootDir, 'pod-api'),
      hostIps: state.hostIps,
      podIps: () => [...manager.workers()].flatMap(({view}) => view.sandboxes.flatMap(({ips}) => ips)),
      clock,
      log,
    });
  const services =
    client &&
    new Services({
      client,
      masterNamespace: settings.text('master-service-namespace'),
      clock,
      onError: (error) => log.debug(`services: ${error.message}`),
      reach: async (service) => podApi?.service(service) ?? service,
    });
  const status: StatusSink = client
    ? new StatusWriter({
        ...{client, clock},
        before: (uid) => recorder.warned(uid),
        onError: (pod, error) => log.debug(`status of ${pod.metadata.name}: ${error.message}`),
      })
    : noStatus;
  const probes = new ProbeCounts();
  const prober = new Prober(runtime, {
    changed: (uid) => worker(uid)?.probesChanged(),
    unhealthy: (pod, container, message) => sayUnhealthy(recorder, pod, container, message),
    count: (kind, pod, container, result, seconds) => probes.count(kind, pod, container, result, seconds),
  });
  const registryQps = settings.number('registry-qps');
  const dead = {
    perContainer: settings.number('maximum-dead-containers-per-container'),
    total: settings.number('maximum-dead-containers'),
    minAgeMs: settings.duration('minimum-container-ttl-duration'),
  };
  const memoryMount = join(rootDir, 'memory');
  const context: PodContext = {
    runtime,
    runtimeName: () => state.runtimeName,
    clock,
    puller: new Puller({
      runtime,
      clock,
      serialize: settings.bool('serialize-image-pulls'),
      ...(registryQps > 0 && {bucket: new TokenBucket(registryQps, settings.number('registry-burst'), clock)}),
    }),
    prober,
    volumes: new Volumes({root: join(rootDir, 'pods'), memory: memoryMount, mounter: systemMounter, canMount: process.getuid?.() === 0}),
    cgroups: await openCgroups(
      {
        mount: '/sys/fs/cgroup',
        root: settings.text('cgroup-root'),
        driver: settings.text('cgroup-driver') as 'cgroupfs' | 'systemd',
        perQos: settings.bool('cgroups-per-qos'),
        cfsQuota: settings.bool('cpu-cfs-quota'),
        cfsPeriodMicros: settings.duration('cpu-cfs-quota-period') * 1000,
        podPids: settings.number('pod-max-pids'),
      },
      (text) => log.warn(text),
    ),
    recorder,
    status,
    references: {
      configMap: async (namespace, object) => {
        const found = await references.configMap(namespace, object);
        return podApi ? podApi.configMap(object, found) : found;
      },
      secret: (namespace, object) => references.secret(namespace, object),
      follow: (pod) => references.follow(pod),
      unfollow: (uid) => {
        references.unfollow(uid);
        tokens?.forget(uid);
      },
    },
    token: async (request) => {
      if (!tokens) throw new Error('there is no API server to ask for a token');
      return tokens.get(request);
    },
    serviceVariables: async (namespace, links) => services?.variables(namespace, links) ?? new Map(),
    hostIps: () => state.hostIps,
    allocatable: () => state.allocatable,
    admit: (pod) =>
      admit(pod, manager.active(pod.metadata.uid), {
        name,
        labels: state.labels,
        allocatable: state.allocatable,
        allowedUnsafeSysctls: settings.list('allowed-unsafe-sysctls'),
      }),
    deletePod: (pod) => deletePod(client, pod),
    runtimeHandler: (className) => runtimeHandler(client, className),
    pullSecrets: (pod) => pullSecrets(client, references, pod),
    settings: {
      logRoot,
      rootDir,
      dns: async () => ({
        clusterDns: settings.list('cluster-dns'),
        clusterDomain: settings.text('cluster-domain'),
        host: settings.text('resolv-conf') ? await readFile(settings.text('resolv-conf'), 'utf8').catch(() => '') : '',
      }),
      resources: {
        cfsQuota: settings.bool('cpu-cfs-quota'),
        cfsPeriodMicros: settings.duration('cpu-cfs-quota-period') * 1000,
        memoryBytes: state.memoryBytes,
      },
      security: {seccompRoot: settings.text('seccomp-profile-root'), seccompDefault: settings.text('seccomp-default') === 'RuntimeDefault'},
      keepTerminatedVolumes: settings.bool('keep-terminated-pod-volumes'),
      dead,
    },
    starts,
    log,
  };

  const statics = new StaticSources({
    settings,
    folder: once ? undefined : join(rootDir, 'manifests'),
    node: name,
    clock,
    log,
    deliver: (source, found) => manager.replace(source, found),
  });
  const sources: SourceName[] = [...(client ? (['api'] as const) : []), ...statics.names];
  const mirrors = client && new ApiMirrors({client, clock, node: name, nodeUid: () => registrar?.node?.metadata.uid, log});
  const manager = new PodManager({
    context,
    clock,
    sources,
    // Half of what is asked for: what happened just after a list is found in time.
    listEveryMs: Math.min((settings.duration('sync-frequency') || 60_000) / 2, longestListMs),
    ...(mirrors && {mirrors}),
    runtimeChanged: () => void state.look(),
  });

  const registrar =
    client &&
    new Registrar({
      client,
      clock,
      spec: state.nodeSpec(),
      register: settings.bool('register-node'),
      status: (previous) => state.status(previous),
      computeMs: settings.duration('node-status-update-frequency'),
      reportMs: settings.isGiven('node-status-update-frequency') ? settings.duration('node-status-update-frequency') : reportIntervalMs,
      onError: (error) => log.warn(`node: ${error.message}`),
      onNode: (node) => state.seen(node),
    });
  state.onChange(() => registrar?.touch());
  await state.look();
  let heartbeat: Heartbeat | undefined;
  if (client && registrar) {
    registrar.start();
    heartbeat = new Heartbeat({
      client,
      clock,
      name,
      nodeUid: () => registrar.node?.metadata.uid,
      onError: (error) => log.debug(`lease: ${error.message}`),
    }).start();
    const seen = (node: KubeObject) => {
      registrar.seen(node);
      state.seen(node);
    };
    const node = client.informer(
      {path: {groupVersion: 'v1', resource: 'nodes'}, fieldSelector: `metadata.name=${name}`},
      {
        keep: withoutManagers,
        handlers: {
          added: seen,
          updated: seen,
          deleted: () => registrar.seen(undefined),
          failed: (error) => log.debug(`node: ${(error as Error).message}`),
        },
      },
    );
    stops.push(
      watchPods({client, node: name, manager, log}),
      () => registrar.stop(),
      () => heartbeat?.stop(),
      () => node.close(),
      () => services?.stop(),
      () => podApi?.stop(),
    );
  }
  const access = new Access({
    client,
    clock,
    node: name,
    anonymous: settings.bool('anonymous-auth'),
    tokens: settings.bool('authentication-token-webhook'),
    tokenTtlMs: settings.duration('authentication-token-webhook-cache-ttl'),
    mode: settings.text('authorization-mode') as 'AlwaysAllow' | 'Webhook',
    allowedTtlMs: settings.duration('authorization-webhook-cache-authorized-ttl'),
    deniedTtlMs: settings.duration('authorization-webhook-cache-unauthorized-ttl'),
  });
  const server = new AgentServer({
    settings,
    manager,
    state,
    runtime,
    cgroups: context.cgroups,
    clock,
    probes,
    access,
    log,
    version,
    logRoot,
    manifests: statics.put,
  });
  await server.start();
  stops.push(() => server.stop());
  if (client && settings.text('tunnel') === 'auto' && settings.bool('enable-server')) {
    const tunnel = new NodeTunnel({
      credentials: client.credentials,
      node: name,
      clock,
      serve: (stream, to) =>
        serveDestination(stream, to, {
          toAgent: (road) => server.serve(road),
          addresses: () => [...state.hostIps, ...[...manager.workers()].flatMap(({view}) => view.sandboxes[0]?.ips ?? [])],
        }),
      lives: (leaseSeconds) => {
        registrar?.told(leaseSeconds);
        heartbeat?.told(leaseSeconds);
      },
      log,
    }).start();
    stops.push(() => tunnel.stop());
  }
  manager.start();
  const storage = new LocalStorage({manager, context}).start();
  const rotation = new LogRotation({
    manager,
    runtime,
    log,
    logRoot,
    maxBytes: bytesOf(settings.text('container-log-max-size')),
    maxFiles: settings.number('container-log-max-files'),
  }).start();
  const deadContainers = new DeadContainers(manager, dead, () => clock.now(), log).start();
  const images = new ImageCollector({
    ...{runtime, clock, log, recorder, node: name},
    policy: {
      high: settings.number('image-gc-high-threshold'),
      low: settings.number('image-gc-low-threshold'),
      minAgeMs: settings.duration('minimum-image-ttl-duration'),
    },
    wanted: () => [
      settings.text('pod-infra-container-image'),
      ...manager.active().flatMap((pod) => allContainers(pod).map(({image}) => image)),
    ],
    disk: (mountpoint) => diskOf(mountpoint || rootDir),
    removed: () => context.puller.forgetLooks(),
  }).start();
  stops.push(
    () => storage.stop(),
    () => rotation.stop(),
    () => deadContainers.stop(),
    () => images.stop(),
  );
  statics.start();
  stops.push(() => statics.stop());
  recorder.event({kind: 'Node', name, uid: name}, 'Normal', 'Starting', 'Starting nodeagent.');
  log.info(`nodeagent ${version} runs as node ${JSON.stringify(name)}${client ? ` of ${client.credentials.server}` : ', alone'}`);

  return {
    name,
    manager,
    state,
    runtime,
    client,
    statics,
    stop: async () => {
      for (const stop of stops) stop();
      manager.stop();
      state.stop();
      runtime.close();
      client?.close();
    },
  };
}

async function prepareRoot(rootDir: string): Promise<void> {
  await mkdir(join(rootDir, 'pods'), {recursive: true, mode: 0o750});
  const file = join(rootDir, 'format-version');
  const found = await readFile(file, 'utf8').catch(() => undefined);
  if (found === undefined) await writeFile(file, `${formatVersion}\n`);
  else if (found.trim() !== formatVersion)
    throw new Error(
      `${rootDir} was written by another version of nodeagent: its format is ${found.trim()}, this one writes ${formatVersion}`,
    );
}

function remoteRuntime(settings: Settings): Runtime {
  return new RemoteRuntime({
    endpoint: settings.text('container-runtime-endpoint'),
    imageEndpoint: settings.text('image-service-endpoint'),
    requestTimeoutMs: settings.duration('runtime-request-timeout'),
  });
}

const noReferences = {
  configMap: async () => undefined,
  secret: async () => undefined,
  follow: () => {},
  unfollow: () => {},
};

const noStatus: StatusSink = {write: () => {}, settled: async () => {}, forget: () => {}};

function sayUnhealthy(recorder: Recorder, {metadata}: Pod, container: string, message: string): void {
  const {name, namespace, uid} = metadata;
  recorder.event({kind: 'Pod', name, namespace, uid, fieldPath: `spec.containers{${container}}`}, 'Warning', 'Unhealthy', message);
}

async function deletePod(client: ApiClient | undefined, {metadata}: Pod): Promise<void> {
  try {
    await client?.request('DELETE', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
      body: {kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: {uid: metadata.uid}},
      priority: 'high',
    });
  } catch (error) {
    if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
  }
}

async function runtimeHandler(client: ApiClient | undefined, className: string): Promise<string> {
  const found = await client?.request<KubeObject>('GET', `/apis/node.k8s.io/v1/runtimeclasses/${className}`);
  if (!found) throw new Error(`there is no API server to ask for runtime class ${JSON.stringify(className)}`);
  return found.handler as string;
}

/** Of the pod and of its service account; what cannot be read is left out, the pull will say. */
async function pullSecrets(client: ApiClient | undefined, references: Pick<ObjectReferences, 'secret'>, pod: Pod): Promise<KubeObject[]> {
  if (!client) return [];
  const {namespace} = pod.metadata;
  const found = await Promise.all(
    (pod.spec.imagePullSecrets ?? []).map(({name}) => references.secret(namespace, name).catch(() => undefined)),
  );
  return found.filter((secret) => secret !== undefined);
}
