import {expect, test} from 'vitest';
import {imageEncoder} from '../registry/encode.ts';
import {openMemory} from '../storage/embedded/open.ts';
import {ObjectCaches, ties} from './object-cache.ts';

const awkward = {
  name: 'x',
  namespace: 'a',
  uid: 'u',
  annotations: {note: 'a } and a \\" and a { and a \\\\'},
  ownerReferences: [{apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'o'}],
  finalizers: ['example.com/}'],
  managedFields: [{manager: 'm', fieldsV1: {'f:data': {}}}],
};
const object = {kind: 'ConfigMap', apiVersion: 'v1', metadata: awkward, data: {metadata: '{"uid":"wrong"}'}};

test('ties are read from the metadata of an image, whatever stands in it', () => {
  const {name, namespace, uid, ownerReferences, finalizers} = awkward;
  expect(ties('a/x', imageEncoder(object)(7))!.metadata).toEqual({name, namespace, uid, ownerReferences, finalizers});
});

test('a cache keeps what its projection keeps, and hears of nothing else', async () => {
  const store = await openMemory();
  const caches = new ObjectCaches(store);
  const named = await caches.named('configmaps', 'x');
  const heard: string[] = [];
  named.onChange((key) => heard.push(key));
  await new Promise((resolve) => setImmediate(resolve));
  for (const key of ['a/x', 'a/y', 'b/x'])
    await store.append({type: 'configmaps', key, expected: 'absent', operation: 'put', encode: imageEncoder(object), index: {}});
  expect(heard).toEqual(['a/x', 'b/x']);
  expect([...named.values()]).toHaveLength(2);
  expect(named.get('a/y')).toBeUndefined();
  expect((await caches.tiesOf('configmaps')).get('a/y')!.metadata.uid).toBe('u');
  expect(await caches.of('configmaps')).not.toBe(named);
});
