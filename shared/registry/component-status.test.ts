import {afterAll, beforeAll, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const path = '/api/v1/componentstatuses';

test('the store is a component, well while it answers', async () => {
  const {body} = await api.get(path);
  expect(body.items).toEqual([{metadata: {name: 'etcd-0'}, conditions: [{type: 'Healthy', status: 'True', message: 'ok'}]}]);
  expect((await api.get(`${path}/etcd-0`)).body.kind).toBe('ComponentStatus');
});

test('another component is not found, and none can be watched', async () => {
  expect((await api.get(`${path}/x`)).body.message).toBe('componentstatus "x" not found');
  expect((await api.get(`${path}?watch=1`)).code).toBe(405);
});

test('selectors choose among components', async () => {
  expect((await api.get(`${path}?fieldSelector=metadata.name%3Dother`)).body.items).toEqual([]);
});
