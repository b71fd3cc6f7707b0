/** Two gateways, processes of their own, over one DynamoDB Local: storms of writers through both leave nothing lost, doubled or stale. */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {Agent, request} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {localDynamo} from '../../shared/storage/dynamo/testing/local.ts';
import {type Server, startServer} from './server.ts';

const storyLimitMs = 120_000;
const admin = 'admin-token';
const bob = 'bob-token';

interface Answer {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  body: any;
}

interface Event {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sent
  object: any;
}

const agent = new Agent({keepAlive: true, rejectUnauthorized: false});
const dynamo = localDynamo();
let folder: string;
let servers: Server[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'storm-'));
  const tokens = join(folder, 'tokens.csv');
  await writeFile(tokens, `${admin},admin,1,"system:masters"\n${bob},bob,2,\n`);
  const flags = ['--store', 'dynamo', '--dynamo-endpoint', dynamo.endpoint, '--table-prefix', 'storm-', '--token-auth-file', tokens];
  // One after the other: the second finds a cluster that is there already.
  servers = [await startServer(...flags)];
  servers.push(await startServer(...flags));
}, storyLimitMs);

afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.close()));
  agent.destroy();
  await rm(folder, {recursive: true, force: true});
});

function ask(server: number, method: string, path: string, body?: unknown, token = admin): Promise<Answer> {
  return new Promise((done, fail) => {
    const sent = request(
      `https://${servers[server]!.address}${path}`,
      {method, agent, headers: {authorization: `Bearer ${token}`, ...(body !== undefined && {'content-type': 'application/json'})}},
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString();
          done({code: response.statusCode!, body: text ? JSON.parse(text) : undefined});
        });
        response.on('error', fail);
      },
    );
    sent.on('error', fail);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Follows until `enough`, then hangs up. */
function watch(server: number, path: string, enough: (events: Event[]) => boolean): Promise<Event[]> {
  return new Promise((done, fail) => {
    const events: Event[] = [];
    let rest = '';
    const sent = request(
      `https://${servers[server]!.address}${path}`,
      {agent: false, rejectUnauthorized: false, headers: {authorization: `Bearer ${admin}`}},
      (response) => {
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          const lines = (rest + text).split('\n');
          rest = lines.pop()!;
          for (const line of lines) events.push(JSON.parse(line) as Event);
          if (!enough(events)) return;
          sent.destroy();
          done(events);
        });
        response.on('end', () => fail(new Error(`the watch ended after ${events.length} events`)));
      },
    );
    sent.on('error', fail);
    sent.end();
  });
}

const each = <T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({length: count}, (_, n) => act(n)));

describe('two gateways over one table', () => {
  test(
    'lose no update, and both watches tell each change once and in order',
    async () => {
      const maps = '/api/v1/namespaces/default/configmaps';
      const names = ['a', 'b', 'c'];
      const writers = 6;
      const rounds = 8;
      const {body: empty} = await ask(0, 'GET', maps);
      for (const name of names)
        expect(
          (await ask(0, 'POST', maps, {metadata: {name: `counter-${name}`, labels: {storm: 'counter'}}, data: {count: '0'}})).code,
        ).toBe(201);
      const total = writers * rounds;
      const isAll = (events: Event[]) => events.length >= names.length + total;
      const watched = [0, 1].map((server) =>
        watch(server, `${maps}?watch=1&labelSelector=storm%3Dcounter&resourceVersion=${empty.metadata.resourceVersion}`, isAll),
      );
      let conflicts = 0;
      await each(writers, async (writer) => {
        for (let round = 0; round < rounds; ) {
          const path = `${maps}/counter-${names[(writer + round) % names.length]}`;
          const {body: object} = await ask(writer % 2, 'GET', path);
          object.data.count = String(Number(object.data.count) + 1);
          const {code} = await ask((writer + round) % 2, 'PUT', path, object);
          if (code === 200) round++;
          else {
            expect(code).toBe(409);
            conflicts++;
          }
        }
      });
      expect(conflicts).toBeGreaterThan(0);
      const lists = await each(2, async (server) => (await ask(server, 'GET', `${maps}?labelSelector=storm%3Dcounter`)).body);
      // Their versions may differ: a slot that a refused writer left, or a ConfigMap of another namespace, lies between two lists.
      expect(lists[0].items).toEqual(lists[1].items);
      const counts = lists[0].items.map(({data}: {data: {count: string}}) => Number(data.count));
      expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(total);
      for (const events of await Promise.all(watched)) {
        const next = new Map<string, number>();
        let last = 0;
        for (const {object} of events) {
          const {name, resourceVersion} = object.metadata;
          expect(Number(object.data.count)).toBe(next.get(name) ?? 0);
          expect(Number(resourceVersion)).toBeGreaterThan(last);
          next.set(name, Number(object.data.count) + 1);
          last = Number(resourceVersion);
        }
        expect(events).toHaveLength(names.length + total);
      }
    },
    storyLimitMs,
  );

  test(
    'hand out no address and no port twice',
    async () => {
      const services = '/api/v1/namespaces/default/services';
      const service = (name: string, port: object = {}) => ({
        metadata: {name},
        spec: {type: 'NodePort', selector: {app: name}, ports: [{port: 80, ...port}]},
      });
      const made = await each(30, (n) => ask(n % 2, 'POST', services, service(`service-${n}`)));
      expect(new Set(made.map(({code}) => code))).toEqual(new Set([201]));
      expect(new Set(made.map(({body}) => body.spec.clusterIP)).size).toBe(30);
      expect(new Set(made.map(({body}) => body.spec.ports[0].nodePort)).size).toBe(30);
      const free = 32_767;
      const rivals = await each(6, (n) => ask(n % 2, 'POST', services, service(`rival-${n}`, {nodePort: free})));
      expect(rivals.map(({code}) => code).sort()).toEqual([201, 422, 422, 422, 422, 422]);
    },
    storyLimitMs,
  );

  test(
    'let nothing slip into a namespace that the other one empties',
    async () => {
      expect((await ask(0, 'POST', '/api/v1/namespaces', {metadata: {name: 'going'}})).code).toBe(201);
      const maps = '/api/v1/namespaces/going/configmaps';
      let answers: number[] = [];
      const creators = each(4, async (creator) => {
        for (let n = 0; n < 25; n++) answers.push((await ask(creator % 2, 'POST', maps, {metadata: {name: `map-${creator}-${n}`}})).code);
      });
      expect((await ask(1, 'DELETE', '/api/v1/namespaces/going')).code).toBe(200);
      await creators;
      answers = [...new Set(answers)].sort();
      expect([201, 403, 404]).toEqual(expect.arrayContaining(answers));
      expect(answers.some((code) => code !== 201)).toBe(true);
      for (let tries = 0; (await ask(0, 'GET', '/api/v1/namespaces/going')).code !== 404; tries++) expect(tries).toBeLessThan(2_000);
      const {body} = await ask(0, 'GET', '/api/v1/configmaps');
      expect(body.items.filter(({metadata}: {metadata: {namespace: string}}) => metadata.namespace === 'going')).toEqual([]);
    },
    storyLimitMs,
  );

  test('honour no right a moment longer than it lasts', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const binding = {
      metadata: {name: 'bob-views'},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view'},
      subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob'}],
    };
    for (let round = 0; round < 10; round++) {
      expect((await ask(1, 'GET', '/api/v1/pods', undefined, bob)).code).toBe(403);
      expect((await ask(0, 'POST', path, binding)).code).toBe(201);
      expect((await ask(1, 'GET', '/api/v1/pods', undefined, bob)).code).toBe(200);
      expect((await ask(0, 'DELETE', `${path}/bob-views`)).code).toBe(200);
    }
  });

  test("believe each other's service accounts", async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    const {body} = await ask(0, 'POST', `${account}/token`, {spec: {}});
    const {code, body: review} = await ask(1, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, body.status.token);
    expect(code).toBe(201);
    expect(review.status.userInfo.username).toBe('system:serviceaccount:default:default');
  });
});
