/** Informers of client-go stay exact through `clusterless proxy`, whose one connection breaks, and whose server is killed, meanwhile. */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pass} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {breakingProxy} from '../../localstack/gateway/testing.ts';
import {startProxy} from '../../localstack/proxy/proxy.ts';
import {loadCredentials} from '../../shared/client/node/credentials.ts';
import {type InformerClient, startInformer} from './informer-client.ts';
import {informer} from './programs.ts';
import {startServer} from './server.ts';

const storyLimitMs = 120_000;
const quietMs = 1_000;
const namespaces = ['default', 'kube-public', 'kube-system'];

test.skipIf(!informer)('while its connection breaks and its server is killed', {timeout: storyLimitMs}, async () => {
  const server = await startServer();
  const between = await breakingProxy(() => Number(server.address.split(':')[1]));
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
  const started: InformerClient[] = [];
  try {
    expect(await proxy.look()).toBe('WebSocket');
    for (const [index, namespace] of namespaces.entries()) {
      started.push(startInformer({kubeconfig, namespace, watchList: index !== 2, protobuf: index === 1}));
    }
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
