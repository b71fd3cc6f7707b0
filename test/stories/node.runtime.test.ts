/** A cluster and an agent in this process, over a containerd of their own: what users see of pods, and what pods leave behind. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {get} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {sandboxReady} from '../../agent/runtime/runtime.ts';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {startTestAgent, type TestAgent} from '../runtime/agent.ts';
import {type ClusterApi, clusterApi} from '../runtime/api.ts';
import {lackingRuntime, startRuntime, type TestRuntime} from '../runtime/containerd.ts';
import {images} from '../runtime/images.ts';
import {leftovers, nothing} from '../runtime/leftovers.ts';

const storyLimitMs = 120_000;
const pods = '/api/v1/namespaces/default/pods';

// biome-ignore lint/suspicious/noExplicitAny: the API's objects
type Json = any;

const isReady = (pod: Json): boolean =>
  Boolean(pod?.status?.conditions?.some((each: Json) => each.type === 'Ready' && each.status === 'True'));

describe.skipIf(lackingRuntime)(`a node on a real runtime${lackingRuntime ? ` (${lackingRuntime} is missing)` : ''}`, () => {
  let runtime: TestRuntime;
  let cluster: Cluster;
  let agent: TestAgent;
  let api: ClusterApi;
  let folder: string;
  let foreign: {sandbox: string; container: string};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clusterless-story-'));
    const kubeconfig = join(folder, 'kubeconfig');
    [runtime, cluster] = await Promise.all([startRuntime(), startCluster({inMemory: true, kubeconfig})]);
    api = clusterApi(cluster.url, cluster.adminToken!);
    foreign = await runForeign();
    agent = await startTestAgent(runtime, {name: 'story', kubeconfig, flags: ['--sync-frequency=5s', '--cluster-api-qps=100']});
    await api.until('/api/v1/nodes/story', 'the node is Ready', isReady);
    await api.until('/api/v1/namespaces/default/serviceaccounts/default', 'the service account', Boolean);
  }, storyLimitMs);

  afterAll(async () => {
    await agent?.stop();
    await runtime?.stop();
    api?.close();
    await cluster?.close({graceMs: 0});
    await rm(folder, {recursive: true, force: true});
  }, storyLimitMs);

  /** Of another program on the same runtime. */
  async function runForeign() {
    const logDirectory = join(folder, 'foreign');
    await mkdir(logDirectory, {recursive: true});
    const config = {
      metadata: {name: 'foreign', namespace: 'default', uid: 'another-program', attempt: 0},
      logDirectory,
      labels: {owner: 'another-program'},
      annotations: {},
      linux: {},
    };
    const sandbox = await runtime.runtime.runSandbox(config);
    const command = ['sleep', '10000'];
    const container = await runtime.runtime.createContainer(
      sandbox,
      {
        metadata: {name: 'c', attempt: 0},
        image: {image: images.busybox},
        command,
        labels: config.labels,
        annotations: {},
        logPath: 'c.log',
      },
      config,
    );
    await runtime.runtime.startContainer(container);
    return {sandbox, container};
  }

  /** A process in a pod's cgroup that the runtime knows nothing of, as one leaves behind that is killed while it makes a sandbox. */
  async function runInCgroupOf(name: string): Promise<{ended: Promise<unknown>}> {
    const {metadata} = await api.ask('GET', `${pods}/${name}`);
    const [tree] = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].filter((path) => existsSync(path));
    const cgroup = join(tree!, runtime.cgroupRoot, 'kubepods/burstable', `pod${metadata.uid}`, 'forgotten');
    const child = spawn('sleep', ['10000'], {stdio: 'ignore'});
    await mkdir(cgroup);
    await writeFile(join(cgroup, 'cgroup.procs'), String(child.pid));
    return {ended: once(child, 'exit')};
  }

  const pod = (name: string, spec: object, container: object = {}) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name},
    spec: {
      nodeName: 'story',
      terminationGracePeriodSeconds: 2,
      containers: [{name: 'main', image: images.busybox, imagePullPolicy: 'Never', ...container}],
      ...spec,
    },
  });
  const create = (object: object) => api.ask('POST', pods, object);

  /** What the node serves at its own port, as the API server asks for it. */
  const fromNode = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = get(`https://127.0.0.1:${agent.port}${path}`, {rejectUnauthorized: false, agent: false}, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      });
      sent.on('error', reject);
    });

  /** Standard output, and the verdict, of a command that is fed `input`. */
  const exec = (name: string, command: readonly string[], input: string): Promise<{output: string; verdict: string}> =>
    new Promise((resolve, reject) => {
      const query = new URLSearchParams([
        ['stdin', 'true'],
        ['stdout', 'true'],
        ...command.map((part): [string, string] => ['command', part]),
      ]);
      const url = `${cluster.url.replace(/^http/, 'ws')}${pods}/${name}/exec?${query}`;
      const headers = {authorization: `Bearer ${cluster.adminToken}`};
      const socket = new WebSocket(url, 'v5.channel.k8s.io', {rejectUnauthorized: false, headers});
      const got: [string, string, string, string] = ['', '', '', ''];
      socket.on('open', () => {
        socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(input)]));
        // The end of the input, which only version 5 can tell.
        socket.send(Buffer.from([255, 0]));
      });
      socket.on('message', (data: Buffer) => {
        got[data[0] as 1] += data.subarray(1).toString();
      });
      socket.on('close', () => resolve({output: got[1], verdict: got[3]}));
      socket.on('error', reject);
    });

  test(
    'a pod becomes Running and Ready, answers at its address, and its log is served',
    async () => {
      const readinessProbe = {httpGet: {path: '/healthz', port: 'http'}, periodSeconds: 1};
      const command = ['sh', '-c', 'echo begun with $WHO; exec /bin/serve'];
      await create(
        pod(
          'web',
          {},
          {image: images.web, command, env: [{name: 'WHO', value: 'us'}], ports: [{name: 'http', containerPort: 8080}], readinessProbe},
        ),
      );
      const {status} = await api.until(`${pods}/web`, 'web is Ready', isReady);
      expect(status).toMatchObject({phase: 'Running', hostIP: '127.0.0.1', qosClass: 'BestEffort'});
      expect(await (await fetch(`http://${status.podIP}:8080/`)).text()).toBe('hello from web\n');
      expect(await fromNode('/containerLogs/default/web/main')).toBe('begun with us\n');
      expect(JSON.parse(await fromNode('/runningpods/')).items.map(({metadata}: Json) => metadata.name)).toEqual(['web']);
    },
    storyLimitMs,
  );

  test(
    'what a pod mounts is in its container',
    async () => {
      await api.ask('POST', '/api/v1/namespaces/default/configmaps', {metadata: {name: 'words'}, data: {hello: 'world'}});
      await api.ask('POST', '/api/v1/namespaces/default/secrets', {metadata: {name: 'quiet'}, stringData: {word: 'hush'}});
      const volumes = [
        {name: 'config', configMap: {name: 'words'}},
        {name: 'secret', secret: {secretName: 'quiet'}},
        {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
        {name: 'disk', emptyDir: {}},
      ];
      const volumeMounts = [
        {name: 'config', mountPath: '/config'},
        {name: 'secret', mountPath: '/secret', readOnly: true},
        {name: 'memory', mountPath: '/memory'},
        {name: 'disk', mountPath: '/disk', subPath: 'below'},
      ];
      const resources = {requests: {cpu: '10m'}, limits: {memory: '64Mi'}};
      await create(pod('mounts', {volumes}, {command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait'], volumeMounts, resources}));
      await api.until(`${pods}/mounts`, 'mounts is Ready', isReady);
      const look =
        'cat /config/hello /secret/word; grep -c "^tmpfs /memory" /proc/mounts; touch /disk/x && ls /disk; ls /var/run/secrets/*/serviceaccount; cat';
      const {output, verdict} = await exec('mounts', ['sh', '-c', look], 'and what it is told\n');
      expect(output).toBe('worldhush1\nx\nca.crt\nnamespace\ntoken\nand what it is told\n');
      expect(JSON.parse(verdict)).toMatchObject({status: 'Success'});
      const failed = await exec('mounts', ['sh', '-c', 'exit 7'], '');
      expect(JSON.parse(failed.verdict)).toMatchObject({
        reason: 'NonZeroExitCode',
        details: {causes: [{reason: 'ExitCode', message: '7'}]},
      });
    },
    storyLimitMs,
  );

  test(
    'a container that fails its liveness probe is restarted, one that ends well is done',
    async () => {
      const livenessProbe = {exec: {command: ['test', '-e', '/tmp/well']}, periodSeconds: 1, failureThreshold: 1};
      // Well in its second life: the pod's disk outlives the container's.
      const command = ['sh', '-c', 'test -e /disk/lived && touch /tmp/well; touch /disk/lived; sleep 1000'];
      const volumes = [{name: 'disk', emptyDir: {}}];
      const spec = {volumes, terminationGracePeriodSeconds: 0};
      await create(pod('sick', spec, {command, livenessProbe, volumeMounts: [{name: 'disk', mountPath: '/disk'}]}));
      await create(pod('job', {restartPolicy: 'Never'}, {command: ['sh', '-c', 'echo done > /dev/termination-log']}));
      const {status} = await api.until(`${pods}/job`, 'the job succeeded', (found) => found?.status?.phase === 'Succeeded');
      expect(status.containerStatuses[0].state.terminated).toMatchObject({reason: 'Completed', exitCode: 0, message: 'done\n'});
      const sick = await api.until(
        `${pods}/sick`,
        'sick was restarted',
        (found) => found?.status?.containerStatuses?.[0]?.restartCount === 1,
      );
      expect(sick.status.containerStatuses[0].lastState.terminated).toMatchObject({exitCode: 137});
      const events = await api.ask('GET', '/api/v1/namespaces/default/events');
      expect(events.items.map(({reason, involvedObject}: Json) => `${reason} ${involvedObject.name}`)).toEqual(
        expect.arrayContaining(['Unhealthy sick', 'Killing sick', 'Started job', 'Started web']),
      );
    },
    storyLimitMs,
  );

  test(
    'an agent that starts again takes over what runs, and goes on',
    async () => {
      const identities = async () =>
        (await api.ask('GET', pods)).items.map(({metadata, status}: Json) => [
          metadata.name,
          status.containerStatuses.map(({containerID, restartCount}: Json) => [containerID, restartCount]),
        ]);
      const before = await identities();
      await agent.restart();
      await create(pod('after', {}, {command: ['sh', '-c', 'echo after; sleep 1000'], terminationGracePeriodSeconds: 0}));
      await api.until(`${pods}/after`, 'a pod runs on the new agent', isReady);
      expect((await identities()).filter(([name]: [string]) => name !== 'after')).toEqual(before);
      expect(await fromNode('/containerLogs/default/web/main')).toBe('begun with us\n');
    },
    storyLimitMs,
  );

  test(
    'pods that are deleted leave nothing, and what is not ours is left alone',
    async () => {
      const names = (await api.ask('GET', pods)).items.map(({metadata}: Json) => metadata.name);
      expect(names.length).toBe(5);
      // That the counting counts: of each there is something to leave.
      const held = await leftovers(runtime, agent.rootDir);
      for (const count of Object.values(held)) expect(count, JSON.stringify(held)).toBeGreaterThan(0);
      const forgotten = await runInCgroupOf('mounts');
      await Promise.all(names.map((name: string) => api.ask('DELETE', `${pods}/${name}?gracePeriodSeconds=1`)));
      for (const name of names) await api.until(`${pods}/${name}`, `${name} is gone`, (found) => found === undefined);
      await forgotten.ended;
      expect((await runtime.runtime.sandboxStatus(foreign.sandbox))?.state).toBe(sandboxReady);
      expect((await runtime.runtime.exec(foreign.container, ['true'], 5)).exitCode).toBe(0);
      await runtime.runtime.stopContainer(foreign.container, 0);
      await runtime.runtime.stopSandbox(foreign.sandbox);
      await runtime.runtime.removeSandbox(foreign.sandbox);
      await expect.poll(() => leftovers(runtime, agent.rootDir), {timeout: 30_000}).toEqual(nothing);
      expect(agent.complaints).toEqual([]);
    },
    storyLimitMs,
  );
});
