/** The CDK app, deployed for real into the emulator, its bundles under the real Lambda runtime: what clients see of it. */
import {execFile, spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {request} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pass} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {compare, grantsOf} from '../../infra/least-privilege.ts';
import {synthesize} from '../../infra/testing.ts';
import {type LocalProxy, startProxy} from '../../localstack/proxy/proxy.ts';
import {startChaos} from '../../localstack/rehearse/chaos.ts';
import {type Rehearsal, startRehearsal} from '../../localstack/rehearse/rehearsal.ts';
import {findToolchain} from '../../localstack/rehearse/toolchain.ts';
import {loadCredentials} from '../../shared/client/node/credentials.ts';
import {startTestAgent, type TestAgent} from '../runtime/agent.ts';
import {lackingRuntime, startRuntime, type TestRuntime} from '../runtime/containerd.ts';
import {images} from '../runtime/images.ts';
import {startInformer} from '../stories/informer-client.ts';
import {informer, kubectl} from '../stories/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const deployLimitMs = 600_000;
const storyLimitMs = 120_000;
/** Long enough for a dozen environments to be taken away. */
const stormMs = 8_000;

let folder: string;
let rehearsal: Rehearsal;
const said: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  rehearsal = await startRehearsal({
    tools: findToolchain(root),
    folder,
    token: 'rehearsal-token',
    tokenFile: 'rehearsal-token,admin,admin,"system:masters"\nbob-token,bob,bob',
    log: (line) => said.push(line),
  });
}, deployLimitMs);

afterAll(async () => {
  await rehearsal?.close();
  rmSync(folder, {recursive: true, force: true, maxRetries: 3});
}, storyLimitMs);

async function kube(...args: string[]): Promise<string> {
  const {stdout} = await run(kubectl!, ['--kubeconfig', rehearsal.kubeconfig, ...args]);
  return stdout;
}

test.skipIf(!kubectl)('kubectl applies, gets, watches and deletes (needs kubectl)', {timeout: storyLimitMs}, async () => {
  await kube('create', 'namespace', 'demo');
  await kube('-n', 'demo', 'create', 'configmap', 'one', '--from-literal=a=b');
  const watch = spawn(kubectl!, ['--kubeconfig', rehearsal.kubeconfig, '-n', 'demo', 'get', 'configmap', '--watch', '-o', 'name']);
  let seen = '';
  watch.stdout.on('data', (piece) => {
    seen += piece;
  });
  try {
    await expect.poll(() => seen, {timeout: 20_000}).toContain('configmap/one');
    await kube('-n', 'demo', 'create', 'configmap', 'two', '--from-literal=c=d');
    await expect.poll(() => seen, {timeout: 20_000}).toContain('configmap/two');
  } finally {
    watch.kill('SIGKILL');
  }
  expect(await kube('-n', 'demo', 'apply', '-f', join(root, 'test/stories/fixtures/pod.yaml'))).toContain('created');
  await kube('-n', 'demo', 'delete', 'configmap', 'one');
  expect(await kube('-n', 'demo', 'get', 'configmaps', '-o', 'name')).not.toContain('configmap/one');
});

test('who has no rights is told so, and who is unknown as well', async () => {
  expect(await ask('/api/v1/secrets', 'bob-token')).toMatchObject({status: 403, object: {reason: 'Forbidden'}});
  expect(await ask('/api/v1/secrets', 'nobody')).toMatchObject({status: 401, object: {reason: 'Unauthorized'}});
});

test('a WebSocket connection is told of changes by the function that the stream rings for', {timeout: storyLimitMs}, async () => {
  const maps = '/api/v1/namespaces/kube-node-lease/configmaps';
  const {object} = await ask<{metadata: {resourceVersion: string}}>(maps);
  const socket = new WebSocket(rehearsal.webSocketUrl, ['v1.watch.clusterless.dev'], {rejectUnauthorized: false});
  const heard: string[] = [];
  const hears = (text: string) => expect.poll(() => heard.join('\n'), {timeout: 30_000, interval: 20}).toContain(text);
  try {
    socket.on('message', (data) => heard.push(String(data)));
    await once(socket, 'open');
    expect(socket.protocol).toBe('v1.watch.clusterless.dev');
    socket.send(JSON.stringify({action: 'hello', token: 'rehearsal-token'}));
    await hears('"welcome"');
    const collection = {group: '', version: 'v1', resource: 'configmaps', namespace: 'kube-node-lease'};
    const {resourceVersion} = object.metadata;
    socket.send(JSON.stringify({action: 'subscribe', id: 's1', collection, accept: 'application/json', resourceVersion}));
    await hears('"subscribed"');
    const created = await ask(maps, 'rehearsal-token', JSON.stringify({metadata: {name: 'pushed'}}));
    expect(created.status).toBe(201);
    await hears('"name":"pushed"');
  } finally {
    socket.terminate();
  }
});

test('a node lives as its tunnel does', {timeout: storyLimitMs}, async () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const renewTime = '2020-01-01T00:00:00.000000Z';
  await ask(
    leases,
    'rehearsal-token',
    JSON.stringify({metadata: {name: 'n1'}, spec: {holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime}}),
  );
  type Lease = {spec: {renewTime: string}};
  const age = async (): Promise<number> => Date.now() - Date.parse((await ask<Lease>(`${leases}/n1`)).object.spec.renewTime);
  const open = async (): Promise<{socket: WebSocket; say(message: object, answer: string): Promise<void>}> => {
    const socket = new WebSocket(rehearsal.webSocketUrl, ['v1.tunnel.clusterless.dev'], {rejectUnauthorized: false});
    const heard: string[] = [];
    socket.on('message', (data) => heard.push(String(data)));
    await once(socket, 'open');
    return {
      socket,
      async say(message, answer) {
        socket.send(JSON.stringify(message));
        await expect.poll(() => heard.join('\n'), {timeout: 30_000, interval: 20}).toContain(answer);
      },
    };
  };
  const hello = {action: 'hello', node: 'n1', token: 'rehearsal-token'};
  const first = await open();
  await first.say(hello, '"leaseSeconds"');
  await first.say({action: 'ping'}, '"pong"');
  expect(await age()).toBeLessThan(60_000);
  const second = await open();
  await second.say(hello, '"welcome"');
  // The former is a tunnel still, and no sign of life.
  await first.say({action: 'ping'}, '"pong"');
  first.socket.terminate();
  const {items} = (await ask<{items: Lease[]}>(leases)).object;
  expect(items.map(({spec}) => spec.renewTime)).not.toContain(renewTime);
  second.socket.terminate();
  const ended = Date.now();
  await expect.poll(async () => Date.now() - (await age()), {timeout: 30_000}).toBeLessThan(ended + 10_000);
});

/** What is lacking for a node with pods. */
const lacking = !kubectl ? 'kubectl' : lackingRuntime;

describe.skipIf(lacking)(`a node that nobody can dial${lacking ? ` (${lacking} is missing)` : ''}`, () => {
  let runtime: TestRuntime;
  let agent: TestAgent;
  let proxy: LocalProxy;
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name: 'far', namespace: 'default'},
    spec: {
      nodeName: 'far',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{name: 'main', image: images.busybox, command: ['sh', '-c', 'echo started; httpd -f -p 8080 -h /www']}],
    },
  };
  /** Through `clusterless proxy`, which upgrades need. */
  const near = (...args: string[]) => [`--server=${proxy.url}`, '--kubeconfig', '/dev/null', '-n', 'default', ...args];
  const throughProxy = async (...args: string[]): Promise<string> => (await run(kubectl!, near(...args), {maxBuffer: 1 << 26})).stdout;

  beforeAll(async () => {
    runtime = await startRuntime();
    // An address that is nobody's: whatever reaches it has come through the tunnel.
    agent = await startTestAgent(runtime, {
      name: 'far',
      kubeconfig: rehearsal.kubeconfig,
      flags: ['--node-ip=192.0.2.1', '--cluster-api-qps=50'],
    });
    proxy = await startProxy({credentials: await loadCredentials({kubeconfig: rehearsal.kubeconfig}), host: '127.0.0.1', port: 0});
    while ((await ask('/api/v1/nodes/far')).status !== 200) await pass(200);
    expect((await ask('/api/v1/namespaces/default/pods', 'rehearsal-token', JSON.stringify(pod))).status).toBe(201);
    await kube('-n', 'default', 'wait', 'pod/far', '--for=condition=Ready', '--timeout=90s');
  }, deployLimitMs);

  afterAll(async () => {
    await proxy?.close();
    await agent?.stop();
    await runtime?.stop();
  }, storyLimitMs);

  test('tells its logs and figures, and lets itself and its pods be proxied', {timeout: storyLimitMs}, async () => {
    expect(await kube('-n', 'default', 'logs', 'far')).toBe('started\n');
    expect(await kube('get', '--raw', '/api/v1/nodes/far/proxy/healthz')).toBe('ok');
    expect(await kube('get', '--raw', '/api/v1/namespaces/default/pods/far:8080/proxy/')).toBe('hello from web\n');
  });

  test('runs what is executed, with input and exit code; carries files and ports', {timeout: storyLimitMs}, async () => {
    expect(await throughProxy('exec', 'far', '--', 'echo', 'hello')).toBe('hello\n');
    await expect(throughProxy('exec', 'far', '--', 'sh', '-c', 'exit 7')).rejects.toMatchObject({code: 7});
    await expect(run(kubectl!, near('--as=bob', 'exec', 'far', '--', 'true'))).rejects.toThrow(/forbidden|cannot create/);
    const [sent, back] = [join(folder, 'sent'), join(folder, 'back')];
    writeFileSync(sent, randomBytes(1_000_000));
    await throughProxy('cp', sent, 'far:/tmp/file');
    await throughProxy('cp', 'far:/tmp/file', back);
    expect(readFileSync(back).equals(readFileSync(sent))).toBe(true);
    const forwarding = spawn(kubectl!, near('port-forward', 'far', ':8080'));
    try {
      let said = '';
      forwarding.stdout.on('data', (piece) => {
        said += piece;
      });
      await expect.poll(() => said, {timeout: 30_000}).toMatch(/127\.0\.0\.1:\d+/);
      const [, port] = /127\.0\.0\.1:(\d+)/.exec(said)!;
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello from web\n');
    } finally {
      forwarding.kill('SIGKILL');
    }
  });
});

test.skipIf(!informer)(
  'informers are exact while environments are taken away (needs the informers’ client)',
  {timeout: storyLimitMs},
  async () => {
    const {kubeconfig} = rehearsal;
    const clients = [
      startInformer({kubeconfig, namespace: 'default', watchList: true, protobuf: false}),
      startInformer({kubeconfig, namespace: 'kube-public', watchList: false, protobuf: false}),
    ];
    try {
      await Promise.all(clients.map(({synced}) => synced));
      const chaos = startChaos({seed: 4, environments: () => rehearsal.environments(), everyMs: 400});
      await pass(stormMs);
      chaos.stop();
      expect(chaos.killed).toBeGreaterThan(5);
      for (const report of await Promise.all(clients.map((client) => client.report()))) {
        expect(report).toMatchObject({lost: 0, wrong: null});
        expect(report.written).toBeGreaterThan(5);
      }
    } finally {
      for (const client of clients) client.end();
    }
  },
);

/** The scripts that LocalStack's users run, with this emulator behind them. */
const script = (name: string, variables: Record<string, string>, ...args: string[]) =>
  run('bash', [join(root, 'localstack/compose', name), ...args], {env: {...process.env, TOKEN: 'rehearsal-token', ...variables}});

test('the smoke test passes', {timeout: storyLimitMs}, async () => {
  const {stdout} = await script('smoke.sh', {URL: `${rehearsal.url}/k8s`});
  expect(JSON.parse(stdout).conflicts.won).toBe(1);
});

test('a deployment over a deployment changes functions and keeps what is stored', {timeout: deployLimitMs}, async () => {
  const before = await ask('/api/v1/namespaces/default');
  const environments = await rehearsal.environments();
  const {assembly, endpoint} = rehearsal;
  const outputs = join(folder, 'second.json');
  await script(
    'deploy.sh',
    {AWS_ENDPOINT_URL: endpoint, OUTPUTS: outputs},
    '-c',
    'historySeconds=7200',
    '--output',
    join(folder, 'second'),
  );
  await rehearsal.reload();
  expect(await ask('/api/v1/namespaces/default')).toEqual(before);
  expect(environments.some(({dead}) => dead)).toBe(true);
  // And back: what the release after it wrote must be read by the one before.
  await rehearsal.redeploy({app: assembly});
  expect(await ask('/api/v1/namespaces/default')).toEqual(before);
});

test('no function asked for what its role does not grant', {timeout: storyLimitMs}, () => {
  const {resources} = synthesize();
  const calls = rehearsal.calls();
  expect(calls.length).toBeGreaterThan(50);
  // For scripts/record-calls.ts.
  const record = process.env['TEST_RECORD_CALLS'];
  if (record) writeFileSync(record, JSON.stringify(calls));
  expect(compare(grantsOf(resources), calls, resources).lacking).toEqual([]);
});

/** By the path that a custom domain would serve. With a body it is a POST. */
function ask<Answered = unknown>(path: string, token = 'rehearsal-token', body?: string): Promise<{status: number; object: Answered}> {
  return new Promise((done, fail) => {
    const headers = {authorization: `Bearer ${token}`, 'content-type': 'application/json'};
    const sent = request(`${rehearsal.url}${path}`, {method: body ? 'POST' : 'GET', headers, rejectUnauthorized: false}, (answer) => {
      let text = '';
      answer.on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => done({status: answer.statusCode ?? 0, object: JSON.parse(text)}));
    });
    sent.on('error', fail);
    sent.end(body);
  });
}
