/** kubectl and a node that cannot be dialled: its agent has opened a tunnel. What runs there is made up; pods on a runtime are node.runtime.test.ts. */
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type Server, type ServerResponse} from 'node:http';
import {networkInterfaces, tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {WebSocketServer} from 'ws';
import {serveDestination} from '../../agent/tunnel/served.ts';
import {NodeTunnel} from '../../agent/tunnel/tunnel.ts';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {loadCredentials} from '../../shared/client/node/credentials.ts';
import {systemClock} from '../../shared/clock.ts';
import {kubectl} from './programs.ts';

const storyLimitMs = 60_000;
/** Where pods of this node would be: an address of this machine that others may name. */
const address = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({family, internal}) => family === 'IPv4' && !internal)?.address;

describe.skipIf(!kubectl)('kubectl, through a tunnel', {timeout: storyLimitMs}, () => {
  let cluster: Cluster;
  let folder: string;
  let agent: Server;
  let tunnel: NodeTunnel;
  const followed = new Set<ServerResponse>();
  const running = new Set<ChildProcess>();

  const open = async (): Promise<void> => {
    const log = {debug() {}, info() {}, warn() {}};
    tunnel = new NodeTunnel({
      credentials: await loadCredentials({kubeconfig: join(folder, 'kubeconfig')}),
      node: 'far',
      clock: systemClock,
      serve: (stream, to) =>
        serveDestination(stream, to, {toAgent: (road) => void agent.emit('connection', road), addresses: () => (address ? [address] : [])}),
      log,
    }).start();
    await eventually(() => run('get', '--raw', '/api/v1/nodes/far/proxy/healthz'));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tunnel-'));
    cluster = await startCluster({inMemory: true, kubeconfig: join(folder, 'kubeconfig')});
    agent = createServer((request, response) => {
      if (!request.url!.startsWith('/containerLogs/')) return void response.end(`${request.method} ${request.url}`);
      response.writeHead(200, {'content-type': 'text/plain'});
      response.write('first line\n');
      if (!request.url!.includes('follow=true')) return void response.end();
      followed.add(response);
    });
    const sockets = new WebSocketServer({noServer: true, handleProtocols: () => 'v5.channel.k8s.io'});
    agent.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('message', (data: Buffer) => {
          if (data[0] === 0) client.send(Buffer.concat([Buffer.from([1]), data.subarray(1)]));
          if (data[0] !== 255) return;
          client.send(Buffer.concat([Buffer.from([3]), Buffer.from('{"metadata":{},"status":"Success"}')]));
          client.close(1000);
        });
      }),
    );
    await new Promise<void>((resolve) => agent.listen(0, address ?? '127.0.0.1', resolve));
    const {port} = agent.address() as {port: number};
    const made = {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {apiVersion: 'v1', kind: 'Node', metadata: {name: 'far'}},
        {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'default', namespace: 'default'}},
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {name: 'web', namespace: 'default'},
          spec: {nodeName: 'far', containers: [{name: 'c', image: 'x', ports: [{containerPort: port}]}]},
        },
      ],
    };
    await writeFile(join(folder, 'objects.json'), JSON.stringify(made));
    await run('apply', '-f', join(folder, 'objects.json'));
    const ip = address ?? '192.0.2.1';
    const status = {status: {phase: 'Running', podIP: ip, podIPs: [{ip}]}};
    await run('patch', 'pod', 'web', '--subresource=status', '--type=merge', '-p', JSON.stringify(status));
    await open();
  }, storyLimitMs);
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
    for (const response of followed) response.destroy();
    followed.clear();
  });
  afterAll(async () => {
    tunnel?.stop();
    agent?.closeAllConnections();
    agent?.close();
    await cluster?.close();
    await rm(folder, {recursive: true, force: true});
  });

  const args = (given: readonly string[]): string[] => ['--kubeconfig', join(folder, 'kubeconfig'), ...given];
  const run = (...given: string[]): Promise<string> =>
    new Promise((resolve, reject) =>
      execFile(kubectl!, args(given), (error, stdout, stderr) => (error ? reject(new Error(stderr)) : resolve(stdout))),
    );
  const start = (...given: string[]) => {
    const child = spawn(kubectl!, args(given));
    running.add(child);
    const said = {text: ''};
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said.text += chunk;
      });
    return {child, said, ended: once(child, 'exit')};
  };

  test('reads a log, and follows it as it grows', async () => {
    expect(await run('logs', 'web')).toBe('first line\n');
    const {said, ended} = start('logs', '-f', 'web');
    await eventually(() => expect(followed.size).toBe(1));
    const [response] = followed;
    for (let line = 1; line <= 20_000; line++) response!.write(`line ${line}\n`);
    response!.end();
    expect((await ended)[0]).toBe(0);
    expect(said.text.trim().split('\n').slice(1)).toEqual(Array.from({length: 20_000}, (_, at) => `line ${at + 1}`));
  });

  test('runs something with input and output', async () => {
    const {child, said, ended} = start('exec', '-i', 'web', '--', 'cat');
    child.stdin!.end('through and back');
    expect([(await ended)[0], said.text]).toEqual([0, 'through and back']);
  });

  test('asks the agent, and a pod at its own address', async () => {
    expect(await run('get', '--raw', '/api/v1/nodes/far/proxy/pods?x=1')).toBe('GET /pods?x=1');
    if (address) expect(await run('get', '--raw', '/api/v1/namespaces/default/pods/web/proxy/a/b')).toBe('GET /a/b');
  });

  test('reaches no address that is not the node’s or its pods’', async () => {
    const status = {status: {podIP: '192.0.2.77', podIPs: [{ip: '192.0.2.77'}]}};
    await run('patch', 'pod', 'web', '--subresource=status', '--type=merge', '-p', JSON.stringify(status));
    await expect(run('get', '--raw', '/api/v1/namespaces/default/pods/web/proxy/')).rejects.toThrow(
      'error trying to reach service: 192.0.2.77 is no address of this node or its pods',
    );
  });

  test('hears of a tunnel that breaks, and goes on when there is a new one', async () => {
    const {said, ended} = start('logs', '-f', 'web');
    await eventually(() => expect(said.text).toBe('first line\n'));
    tunnel.stop();
    expect((await ended)[0]).toBe(1);
    await expect(run('logs', 'web')).rejects.toThrow('error dialing backend: no preferred addresses found');
    await open();
    expect(await run('logs', 'web')).toBe('first line\n');
  });
});

async function eventually(check: () => unknown): Promise<void> {
  for (;;) {
    try {
      await check();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
