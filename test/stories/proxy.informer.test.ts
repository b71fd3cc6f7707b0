/** Informers of client-go stay exact through `clusterless proxy`, whose one connection breaks, and whose server is killed, meanwhile. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {type AddressInfo, connect, createServer, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pass} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {startProxy} from '../../localstack/proxy/proxy.ts';
import {loadCredentials} from '../../shared/client/node/credentials.ts';
import {informer} from './programs.ts';
import {startServer} from './server.ts';

const storyLimitMs = 120_000;
const quietMs = 1_000;
const namespaces = ['default', 'kube-public', 'kube-system'];

/** Between proxy and server: passes bytes on, and hangs up on everybody when told to. */
async function fragile(target: () => string) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const [host, port] = target().split(':');
    const far = connect(Number(port), host);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    breakAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      this.breakAll();
      server.close();
    },
  };
}

function startInformer(kubeconfig: string, namespace: string, index: number) {
  const flags = ['-kubeconfig', kubeconfig, '-namespace', namespace, '-writers', '2', ...(index === 1 ? ['-protobuf'] : [])];
  const child: ChildProcess = spawn(informer!, flags, {env: {...process.env, KUBE_FEATURE_WatchListClient: String(index !== 2)}});
  let out = '';
  let log = '';
  child.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const synced = new Promise<void>((done, fail) => {
    child.stdout!.on('data', (chunk) => {
      out += chunk;
      if (out.includes('synced\n')) done();
    });
    void ended.then(() => fail(new Error(log)));
  });
  return {
    synced,
    async report() {
      child.stdin!.end('stop\n');
      await ended;
      const line = out.split('\n')[1];
      if (!line) throw new Error(`no report: ${log}`);
      return JSON.parse(line);
    },
    end: () => child.kill('SIGKILL'),
  };
}

test.skipIf(!informer)('while its connection breaks and its server is killed', {timeout: storyLimitMs}, async () => {
  const server = await startServer();
  const between = await fragile(() => server.address);
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  const credentials = await loadCredentials({kubeconfig: server.kubeconfig});
  const proxy = await startProxy({
    credentials: {...credentials, server: `https://127.0.0.1:${between.port}`},
    host: '127.0.0.1',
    port: 0,
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(
    kubeconfig,
    `apiVersion: v1
kind: Config
clusters: [{name: p, cluster: {server: '${proxy.url}'}}]
contexts: [{name: p, context: {cluster: p}}]
current-context: p
`,
  );
  const started: ReturnType<typeof startInformer>[] = [];
  try {
    expect(await proxy.look()).toBe('WebSocket');
    for (const [index, namespace] of namespaces.entries()) started.push(startInformer(kubeconfig, namespace, index));
    await Promise.all(started.map(({synced}) => synced));
    expect(proxy.carried).toBe(3);
    for (let blow = 0; blow < 6; blow++) {
      await pass(quietMs);
      between.breakAll();
    }
    for (let blow = 0; blow < 2; blow++) {
      await pass(quietMs);
      await server.kill();
      await server.start();
    }
    await pass(quietMs);
    // What broke was the connection behind the proxy: the watches in front of it went on.
    expect(proxy.carried).toBe(3);
    const reports = await Promise.all(started.map((client) => client.report()));
    for (const report of reports) {
      expect(report).toMatchObject({lost: 0, wrong: null});
      expect(report.written).toBeGreaterThan(20);
      expect(report.updates).toBeGreaterThan(5);
      expect(report.deletes).toBeGreaterThan(0);
    }
    if (process.env['VERBOSE']) process.stderr.write(`${JSON.stringify(reports)}\n`);
  } finally {
    for (const client of started) client.end();
    await proxy.close();
    between.close();
    await server.close();
    await rm(folder, {recursive: true, force: true});
  }
});
