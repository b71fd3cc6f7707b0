import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
const bob = {name: 'bob', groups: ['system:authenticated']};
const asBob = (method: string, url: string, body?: unknown) => api.ask(method, url, body, {}, {user: bob});

beforeAll(async () => {
  api = await TestApi.start();
  await api.post(configMaps, configMap('kept'));
  const rules = [{apiGroups: [''], resources: ['configmaps'], verbs: ['watch', 'proxy']}];
  const role = {metadata: {name: 'watcher'}, rules};
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  await api.post(`${roles}/roles`, role);
  const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'watcher'};
  const subjects = [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob'}];
  await api.post(`${roles}/rolebindings`, {metadata: {name: 'bob-watches'}, roleRef, subjects});
});
afterAll(() => api.close());

describe('who may watch and no more', () => {
  const watched = configMaps.replace('/v1/', '/v1/watch/');

  test('does not write through the paths of old watches', async () => {
    for (const [method, url, body] of [
      ['DELETE', `${watched}/kept`],
      ['DELETE', watched],
      ['POST', watched, configMap('slipped-in')],
      ['PUT', `${watched}/kept`, configMap('kept', {data: {a: 'b'}})],
      ['PATCH', `${watched}/kept`, {data: {a: 'b'}}],
    ] as const)
      expect([method, (await asBob(method, url, body)).code]).toEqual([method, 405]);
    const {body} = await api.get(`${configMaps}/kept`);
    expect(body.data?.a).toBeUndefined();
    expect((await api.get(`${configMaps}/slipped-in`)).code).toBe(404);
  });

  test('does not read through the paths of old proxies', async () => {
    const proxied = configMaps.replace('/v1/', '/v1/proxy/');
    expect((await asBob('GET', `${proxied}/kept`)).code).toBe(404);
    expect((await asBob('DELETE', `${proxied}/kept`)).code).toBe(404);
    expect((await api.get(`${configMaps}/kept`)).code).toBe(200);
  });
});
