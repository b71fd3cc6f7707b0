import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';
import {maxBodyBytes} from '../limits.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const patch = (url: string, type: string, body: unknown) => api.ask('PATCH', url, body, {'content-type': `application/${type}+json`});
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name: string) => ({
  metadata: {name},
  spec: {
    replicas: 1,
    selector: {matchLabels: {a: 'b'}},
    template: {
      metadata: {labels: {a: 'b'}},
      spec: {
        containers: [
          {name: 'one', image: 'i:1'},
          {name: 'two', image: 'i:2'},
        ],
      },
    },
  },
});

describe('the three kinds', () => {
  test('a JSON patch is its operations, all or none', async () => {
    await api.post(configMaps, configMap('json', {data: {a: '1', b: '2'}}));
    const done = await patch(`${configMaps}/json`, 'json-patch', [
      {op: 'test', path: '/data/a', value: '1'},
      {op: 'move', from: '/data/a', path: '/data/c'},
      {op: 'add', path: '/metadata/labels', value: {x: 'y'}},
    ]);
    expect(done.body).toMatchObject({data: {b: '2', c: '1'}, metadata: {labels: {x: 'y'}}});
    const failed = await patch(`${configMaps}/json`, 'json-patch', [
      {op: 'remove', path: '/data/b'},
      {op: 'test', path: '/data/c', value: 'other'},
    ]);
    expect(failed.body).toMatchObject({code: 422, reason: 'Invalid'});
    expect((await api.get(`${configMaps}/json`)).body).toEqual(done.body);
  });

  test('a merge patch removes by null and replaces lists', async () => {
    await api.post(deployments, deployment('merge'));
    const {body} = await patch(`${deployments}/merge`, 'merge-patch', {
      spec: {template: {spec: {containers: [{name: 'only', image: 'i'}]}}},
    });
    expect(body.spec.template.spec.containers.map(({name}: {name: string}) => name)).toEqual(['only']);
  });

  test('a strategic merge patch merges lists by their keys', async () => {
    await api.post(deployments, deployment('strategic'));
    const {body} = await patch(`${deployments}/strategic`, 'strategic-merge-patch', {
      spec: {
        template: {
          spec: {
            containers: [
              {name: 'two', image: 'i:3'},
              {name: 'one', $patch: 'delete'},
              {name: 'three', image: 'i:4'},
            ],
          },
        },
      },
    });
    expect(body.spec.template.spec.containers.map(({name, image}: Record<string, string>) => `${name} ${image}`).sort()).toEqual([
      'three i:4',
      'two i:3',
    ]);
  });

  test.each([['application/json'], ['text/plain'], ['']])('%s is none of them: 415', async (type) => {
    await api.post(configMaps, configMap('typed'));
    expect((await api.ask('PATCH', `${configMaps}/typed`, {}, {'content-type': type})).body).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    });
  });
});

describe('what a patch may not do', () => {
  test('change name, namespace or kind', async () => {
    await api.post(configMaps, configMap('fixed'));
    const answers = [
      await api.mergePatch(`${configMaps}/fixed`, {metadata: {name: 'other'}}),
      await api.mergePatch(`${configMaps}/fixed`, {metadata: {namespace: 'other'}}),
      await api.mergePatch(`${configMaps}/fixed`, {kind: 'Secret'}),
      await api.mergePatch(`${configMaps}/fixed`, {apiVersion: 'apps/v1', kind: 'Deployment'}),
      await api.mergePatch(`${configMaps}/fixed`, {metadata: {uid: 'other'}}),
    ];
    expect(answers.map(({code}) => code)).toEqual([400, 400, 422, 422, 422]);
  });

  test('name another version than the stored one', async () => {
    await api.post(configMaps, configMap('conditional'));
    expect((await api.mergePatch(`${configMaps}/conditional`, {metadata: {resourceVersion: '1'}, data: {a: 'b'}})).body.reason).toBe(
      'Conflict',
    );
  });

  test('make an object', async () => {
    expect((await api.mergePatch(`${configMaps}/absent`, {data: {}})).code).toBe(404);
  });

  test('have more operations or bytes than fit', async () => {
    await api.post(configMaps, configMap('small'));
    const operations = Array.from({length: 10_001}, () => ({op: 'test', path: '/kind', value: 'ConfigMap'}));
    const many = await patch(`${configMaps}/small`, 'json-patch', operations);
    expect([many.code, many.body.message]).toEqual([413, 'The allowed maximum operations in a JSON patch is 10000, got 10001']);
    expect((await api.mergePatch(`${configMaps}/small`, {data: {a: 'x'.repeat(maxBodyBytes)}})).body.reason).toBe('RequestEntityTooLarge');
  });

  test('double itself into something huge', async () => {
    await api.post(configMaps, configMap('bomb', {data: {a: 'x'.repeat(1_000)}}));
    const copies = Array.from({length: 60}, (_, at) => ({op: 'copy', from: '/data', path: `/data/n${at}`}));
    const began = performance.now();
    expect((await patch(`${configMaps}/bomb`, 'json-patch', copies)).code).toBe(422);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('at the same time', () => {
  test('patches that name no version all land', async () => {
    await api.post(configMaps, configMap('busy'));
    const answers = await Promise.all(Array.from({length: 5}, (_, at) => api.mergePatch(`${configMaps}/busy`, {data: {[`k${at}`]: 'v'}})));
    expect(answers.map(({code}) => code)).toEqual([200, 200, 200, 200, 200]);
    expect(Object.keys((await api.get(`${configMaps}/busy`)).body.data).sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'k4']);
  });

  test('of very many each lands or conflicts, and those that landed are all there', async () => {
    await api.post(configMaps, configMap('crowd'));
    const answers = await Promise.all(
      Array.from({length: 60}, (_, at) => api.mergePatch(`${configMaps}/crowd`, {data: {[`k${at}`]: 'v'}})),
    );
    const landed = answers.flatMap(({code}, at) => (code === 200 ? [`k${at}`] : []));
    expect(answers.filter(({code}) => code !== 200).map(({body}) => body.reason)).toEqual(Array(60 - landed.length).fill('Conflict'));
    expect(landed.length).toBeGreaterThan(5);
    expect(Object.keys((await api.get(`${configMaps}/crowd`)).body.data).sort()).toEqual(landed.sort());
  });
});

test('unknown fields warn, or are refused when asked to be strict', async () => {
  await api.post(deployments, deployment('fields'));
  const warned = await api.mergePatch(`${deployments}/fields`, {spec: {replcas: 3}});
  expect(warned.headers['warning']).toEqual(['299 - "unknown field \\"spec.replcas\\""']);
  const strict = await api.mergePatch(`${deployments}/fields?fieldValidation=Strict`, {spec: {replcas: 3}});
  expect([strict.code, strict.body.message.includes('unknown field "spec.replcas"')]).toEqual([422, true]);
  const silent = await api.mergePatch(`${deployments}/fields?fieldValidation=Ignore`, {spec: {replcas: 3}});
  expect([silent.code, silent.headers['warning']]).toEqual([200, undefined]);
});
