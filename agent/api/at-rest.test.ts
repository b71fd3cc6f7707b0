/** A node that has its pods and nothing to do, against the project's own server: what it asks, and by which way it hears of news. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {collect} from '../../shared/client/connection.ts';
import {connect, type KubeClient} from '../../shared/client/node/connect.ts';
import {ManualClock} from '../../shared/clock.ts';
import {Heartbeat} from '../node/heartbeat.ts';
import {Registrar} from '../node/registrar.ts';
import {containerOf, podOf} from '../pods/testing.ts';
import {watchPods} from '../sources/api.ts';
import {readableLog} from '../sources/testing.ts';
import {withoutManagers} from './keep.ts';
import {ObjectReferences} from './references.ts';
import {Services} from './services.ts';
import {passTime} from './testing.ts';

let cluster: Cluster;
let client: KubeClient;

beforeAll(async () => {
  cluster = await startCluster({inMemory: true});
  const authorization = `Bearer ${cluster.adminToken!}`;
  const credentials = {server: cluster.url, ca: cluster.caCertificate, namespace: 'default', present: async () => ({authorization})};
  client = await connect({credentials});
});
afterAll(async () => {
  client?.close();
  await cluster?.close();
});

/** What the server has been asked, by verb and resource. */
async function asked(): Promise<Map<string, number>> {
  const reply = await client.connection.send({method: 'GET', path: '/metrics'});
  const text = Buffer.from(await collect(reply)).toString();
  const counts = new Map<string, number>();
  for (const [, labels, count] of text.matchAll(/^apiserver_request_total\{(.*)\} (\d+)$/gm)) {
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels!)?.[1] ?? '';
    const key = [of('verb'), of('resource') || of('subresource'), of('resource') && of('subresource')].filter(Boolean).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

test('at rest a node renews its lease, says every five minutes how it is, and hears of news without asking', async () => {
  const clock = new ManualClock();
  const log = readableLog();
  const told: string[] = [];
  const namespace = 'default';
  await client.create({groupVersion: 'v1', resource: 'configmaps', namespace}, {metadata: {name: 'c'}, data: {}});
  const registrar = new Registrar({
    ...{client, clock, register: true, computeMs: 10_000, reportMs: 300_000},
    spec: {name: 'n', labels: {}, taints: [], unschedulable: false, providerId: '', architecture: 'amd64', controllerAttach: true},
    status: async () => ({addresses: [{type: 'Hostname', address: 'n'}]}),
    onError: (error) => log.error('node', error),
    onNode: () => {},
  }).start();
  const heartbeat = new Heartbeat({
    client,
    clock,
    name: 'n',
    nodeUid: () => undefined,
    onError: (error) => log.error('lease', error),
  }).start();
  const node = client.informer({path: {groupVersion: 'v1', resource: 'nodes'}, fieldSelector: 'metadata.name=n'}, {keep: withoutManagers});
  const manager = {
    replace: (_: string, pods: readonly object[]) => void told.push(`${pods.length} pods`),
    changed: ({metadata}: {metadata: {name: string}}) => void told.push(metadata.name),
    removed: () => {},
  };
  const stop = watchPods({client, node: 'n', manager, log});
  const services = new Services({client, masterNamespace: 'default', clock, onError: () => {}, reach: async (service) => service});
  const references = new ObjectReferences(client, (uid) => void told.push(`news for ${uid}`));
  const pod = podOf({containers: [containerOf('c', {envFrom: [{configMapRef: {name: 'c'}}]})]}, {namespace, uid: 'p'});
  references.follow(pod);
  await Promise.all([node.synced, references.configMap(namespace, 'c'), services.variables(namespace, true)]);
  const watching = async () => (await asked()).get('WATCH pods') === 1 && (await asked()).get('WATCH configmaps') === 1;
  while (!(await watching())) await new Promise(setImmediate);
  await passTime(clock, () => registrar.node !== undefined && told.length > 0);

  const begun = clock.now();
  const before = await asked();
  const renewed = async () => ((await asked()).get('PUT leases') ?? 0) - (before.get('PUT leases') ?? 0);
  for (let renewals = 0; renewals < 30; renewals = await renewed()) {
    clock.advance(2_500);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const after = await asked();
  const news = [...after].filter(([key, count]) => count !== before.get(key) && !key.includes('metrics')).map(([key]) => key);
  expect(news.sort()).toEqual(['PATCH nodes status', 'PUT leases']);
  expect((after.get('PATCH nodes status') ?? 0) - (before.get('PATCH nodes status') ?? 0)).toBeLessThanOrEqual(
    (clock.now() - begun) / 300_000 + 1,
  );

  await client.create(
    {groupVersion: 'v1', resource: 'pods', namespace},
    {
      metadata: {name: 'fresh'},
      spec: {nodeName: 'n', automountServiceAccountToken: false, containers: [{name: 'c', image: 'img'}]},
    },
  );
  await client.patch({groupVersion: 'v1', resource: 'configmaps', namespace}, 'c', 'application/merge-patch+json', {data: {a: 'b'}});
  while (!told.includes('fresh') || !told.includes('news for p')) await new Promise((resolve) => setTimeout(resolve, 5));
  const last = await asked();
  expect([last.get('LIST pods'), last.get('LIST configmaps')]).toEqual([after.get('LIST pods'), after.get('LIST configmaps')]);
  expect(log.lines).toEqual([]);
  for (const end of [stop, () => registrar.stop(), () => heartbeat.stop(), () => node.close(), () => services.stop()]) end();
  references.unfollow('p');
});
