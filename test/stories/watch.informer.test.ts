/** Informers of client-go stay exact: nothing lost, doubled or out of order, whatever happens to the server meanwhile. */
import {setTimeout as pass} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {type InformerClient, startInformer} from './informer-client.ts';
import {informer} from './programs.ts';
import {type Server, startServer} from './server.ts';

const storyLimitMs = 120_000;
/** Long enough for some hundred writes between two blows. */
const quietMs = 1_200;

const clients = [
  {name: 'lists streamed, JSON', watchList: true, protobuf: false},
  {name: 'lists streamed, Protobuf', watchList: true, protobuf: true},
  {name: 'lists read, JSON', watchList: false, protobuf: false},
  {name: 'lists read, Protobuf', watchList: false, protobuf: true},
];

async function story(flags: string[], happenings: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServer(...flags);
  const started: InformerClient[] = [];
  try {
    const namespaces = ['default', 'kube-public', 'kube-system', 'kube-node-lease'];
    for (const [index, {watchList, protobuf}] of clients.entries()) {
      started.push(startInformer({kubeconfig: server.kubeconfig, namespace: namespaces[index]!, watchList, protobuf}));
    }
    await Promise.all(started.map(({synced}) => synced));
    await happenings(server);
    const reports = await Promise.all(started.map((client) => client.report()));
    for (const [index, report] of reports.entries()) {
      expect(report, clients[index]!.name).toMatchObject({lost: 0, wrong: null});
      // That it was put to the test at all: how much is written depends on what else the machine does.
      expect(report.written).toBeGreaterThan(20);
      expect(report.updates).toBeGreaterThan(5);
      expect(report.deletes).toBeGreaterThan(0);
    }
    if (process.env['VERBOSE']) process.stderr.write(`${JSON.stringify(reports)}\n`);
  } finally {
    for (const client of started) client.end();
    await server.close();
  }
}

test.skipIf(!informer)('while writers run', {timeout: storyLimitMs}, () => story([], () => pass(2 * quietMs)));

test.skipIf(!informer)('while the server is killed and started again on its folder', {timeout: storyLimitMs}, () =>
  story([], async (server) => {
    for (let blow = 0; blow < 3; blow++) {
      await pass(quietMs);
      await server.kill();
      await server.start();
    }
    await pass(quietMs);
  }),
);

test.skipIf(!informer)('while history is forgotten sooner than they come back', {timeout: storyLimitMs}, () =>
  story(['--watch-history', '1s'], async (server) => {
    for (let blow = 0; blow < 2; blow++) {
      await pass(quietMs);
      await server.kill();
      await pass(1.5 * quietMs);
      await server.start();
    }
    await pass(quietMs);
  }),
);
