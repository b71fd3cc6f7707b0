import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi, until} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

type Sample = {name: string; labels: Record<string, string>; value: number};

async function samples(name: string): Promise<Sample[]> {
  const {text} = await api.get('/metrics');
  return text.split('\n').flatMap((line) => {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match || match[1] !== name) return [];
    const labels = Object.fromEntries([...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]));
    return [{name, labels, value: Number(match[3])}];
  });
}
const total = async (wanted: Record<string, string>) =>
  (await samples('apiserver_request_total'))
    .filter(({labels}) => Object.entries(wanted).every(([key, value]) => labels[key] === value))
    .reduce((sum, {value}) => sum + value, 0);

test('every line is Prometheus text, every family has its type', async () => {
  const {headers, text} = await api.get('/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const typed = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('#')) continue;
    expect(line).toMatch(/^\w+(\{(\w+="([^"\\\n]|\\.)*",?)*\})? [-+.e\d]+$/);
    expect(typed).toContain(/^\w+/.exec(line)![0].replace(/_(bucket|sum|count)$/, ''));
  }
});

describe('requests', () => {
  test.each([
    ['POST', configMaps, configMap('m'), {verb: 'POST', code: '201', scope: 'resource', resource: 'configmaps'}],
    ['POST', `${configMaps}?dryRun=All`, configMap('dry'), {verb: 'POST', code: '201', dry_run: 'All'}],
    ['GET', `${configMaps}/m`, undefined, {verb: 'GET', code: '200', scope: 'resource', resource: 'configmaps'}],
    ['GET', `${configMaps}/absent`, undefined, {verb: 'GET', code: '404', scope: 'resource', resource: 'configmaps'}],
    ['GET', configMaps, undefined, {verb: 'LIST', code: '200', scope: 'namespace', resource: 'configmaps'}],
    ['GET', '/api/v1/configmaps', undefined, {verb: 'LIST', code: '200', scope: 'cluster', resource: 'configmaps'}],
    ['PUT', `${configMaps}/m`, configMap('m'), {verb: 'PUT', code: '200', resource: 'configmaps'}],
    ['DELETE', `${configMaps}?labelSelector=none`, undefined, {verb: 'DELETECOLLECTION', code: '200', scope: 'namespace'}],
    [
      'GET',
      '/apis/apps/v1/namespaces/default/deployments/d/scale',
      undefined,
      {verb: 'GET', code: '404', group: 'apps', version: 'v1', resource: 'deployments', subresource: 'scale'},
    ],
    ['GET', '/livez', undefined, {verb: 'GET', code: '200', resource: '', subresource: '/livez'}],
    ['GET', '/apis', undefined, {verb: 'GET', code: '200', resource: '', subresource: 'apis'}],
  ] as const)('%s %s is counted under what the reference calls it', async (method, url, body, labels) => {
    const before = await total(labels);
    await api.ask(method, url, body);
    expect(await total(labels)).toBe(before + 1);
  });

  test('have the labels that deprecated ones are joined by, and durations with rising buckets', async () => {
    const [sample] = await samples('apiserver_request_total');
    expect(Object.keys(sample!.labels).sort()).toEqual([
      'code',
      'component',
      'dry_run',
      'group',
      'resource',
      'scope',
      'subresource',
      'verb',
      'version',
    ]);
    const of = (await samples('apiserver_request_duration_seconds_bucket')).filter(
      ({labels}) => labels['resource'] === 'configmaps' && labels['verb'] === 'POST',
    );
    const values = of.map(({value}) => value);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(of.at(-1)!.labels['le']).toBe('+Inf');
  });

  test('of strangers do not fill memory: what is not served has no labels of its own', async () => {
    const count = async () => (await samples('apiserver_request_total')).length;
    const stranger = {user: {name: 'bob', groups: ['system:authenticated']}};
    const knock = async (round: number) => {
      for (let at = 0; at < 50; at++) {
        const odd = `x${round}-${at}`;
        for (const user of [stranger, {}]) {
          await api.ask('GET', `/apis/${odd}.example.com/v1/${odd}`, undefined, {}, user);
          await api.ask('GET', `/api/${odd}/pods`, undefined, {}, user);
          await api.ask('GET', `/${odd}/a`, undefined, {}, user);
          await api.ask('GET', `/api/v1/namespaces/default/pods/p/${odd}`, undefined, {}, user);
          await api.ask(odd.toUpperCase(), '/version', undefined, {}, user);
        }
      }
    };
    await knock(0);
    const before = await count();
    await knock(1);
    expect(await count()).toBe(before);
    expect((await api.get('/metrics')).text).not.toContain('x0-');
  });
});

test('watches and objects are gauges that come down again', async () => {
  const open = async () =>
    (await samples('apiserver_longrunning_requests')).find(({labels}) => labels['resource'] === 'configmaps')?.value ?? 0;
  const before = await open();
  const {body} = await api.get(configMaps);
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await api.post(configMaps, configMap('seen'));
  await watch.next(1);
  expect(await open()).toBe(before + 1);
  await watch.close();
  await until(async () => (await open()) === before);
  const stored = async () => (await samples('apiserver_storage_objects')).find(({labels}) => labels['resource'] === 'configmaps')!.value;
  const count = await stored();
  await api.delete(`${configMaps}/seen`);
  expect(await stored()).toBe(count - 1);
});
