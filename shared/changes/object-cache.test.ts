import {expect, test} from 'vitest';
import {imageEncoder} from '../registry/encode.ts';
import {type Store, StoreError, type Subscriber} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';
import {ObjectCache, ObjectCaches, ties} from './object-cache.ts';

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

test('of what is tied to nothing the uid is kept, its own and no other', () => {
  const metadata = {name: 'x', namespace: 'a', uid: 'u-1', annotations: {note: '"uid":"no","finalizers":'}};
  const alone = {...object, metadata, data: {metadata: '{"uid":"wrong"}'}, subjects: [{uid: 'another'}]};
  expect(ties('a/x', imageEncoder(alone)(7))!.metadata).toEqual({uid: 'u-1'});
  // A field of this name elsewhere costs a look at the metadata, and changes nothing.
  expect(ties('a/x', imageEncoder({...alone, spec: {finalizers: ['kubernetes']}})(7))!.metadata).toMatchObject({uid: 'u-1'});
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

const turn = () => new Promise((resolve) => setImmediate(resolve));
const writeOf = (key: string) => ({type: 'configmaps', key, encode: imageEncoder(object), index: {}});
const put = (store: Store, key: string) => store.append({...writeOf(key), expected: 'absent', operation: 'put'});

test('a listener that fails keeps nothing from the others, and from none what comes later', async () => {
  const store = await openMemory();
  const failures: string[] = [];
  const cache = await new ObjectCaches(store, (error, type, key) => failures.push(`${type} ${key} ${error}`)).of('configmaps');
  const heard: string[] = [];
  cache.onChange((key) => {
    if (key === 'a/bad') throw new Error('cannot bear it');
  });
  cache.onChange((key) => heard.push(key));
  for (const key of ['a/bad', 'a/good']) await put(store, key);
  await turn();
  expect(heard).toEqual(['a/bad', 'a/good']);
  expect([...cache.values()]).toHaveLength(2);
  expect(failures).toEqual(['configmaps a/bad Error: cannot bear it']);
});

test('a cache that compaction ran past reads anew by itself, and tells what went meanwhile', async () => {
  const store = await openMemory();
  const subscribers: Subscriber[] = [];
  const watched: Store = Object.create(store, {
    subscribe: {
      value: (type: string, from: number, subscriber: Subscriber) => {
        subscribers.push(subscriber);
        return store.subscribe(type, from, subscriber);
      },
    },
    scan: {value: store.scan.bind(store)},
  });
  const gone = await put(store, 'a/gone');
  const cache = await new ObjectCache(watched, 'configmaps').start();
  const heard: string[] = [];
  cache.onChange((key, now) => heard.push(`${key} ${now ? 'there' : 'gone'}`));
  // The engine's own delivery to the first subscriber is cut off, as a lost one is.
  const lost = subscribers[0]!;
  lost.changes = () => {};
  await store.append({...writeOf('a/gone'), expected: gone.revision, operation: 'delete'});
  await put(store, 'a/new');
  expect(cache.behind()).toBeUndefined();
  lost.ended(new StoreError('Compacted', 'too old'));
  // Whoever decides by it waits for this.
  const waiting = cache.behind();
  expect(waiting).toBeDefined();
  await waiting;
  expect(cache.behind()).toBeUndefined();
  expect(heard).toEqual(['a/gone there', 'a/gone gone', 'a/new there']);
});

test('a cache that could not be read is read by whoever asks next', async () => {
  const store = await openMemory();
  await put(store, 'a/x');
  let failing = true;
  const moody: Store = Object.create(store, {
    scan: {
      value: (...args: Parameters<Store['scan']>) =>
        failing ? Promise.reject(new StoreError('Unavailable', 'busy')) : store.scan(...args),
    },
    subscribe: {value: store.subscribe.bind(store)},
  });
  const caches = new ObjectCaches(moody);
  await expect(caches.of('configmaps')).rejects.toThrow('busy');
  failing = false;
  expect((await caches.of('configmaps')).get('a/x')).toBeDefined();
});
