import {beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../clock.ts';
import type {Store} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';
import {Collections} from './collection.ts';

const type = 'things';
let clock: ManualClock;
let store: Store;
let collections: Collections;
beforeEach(async () => {
  clock = new ManualClock();
  store = await openMemory({clock});
  collections = new Collections(store, clock);
});

const zeros = new Uint8Array(3 * 1024 * 1024);
const put = async (key: string, bytes = 1) => {
  const current = await store.read(type, key);
  const encode = () => zeros.subarray(0, bytes);
  await store.append({type, key, expected: current?.revision ?? 'absent', operation: 'put', encode, index: {}});
};
const remove = async (key: string) => {
  const {revision} = (await store.read(type, key))!;
  await store.append({type, key, expected: revision, operation: 'delete', encode: () => new Uint8Array(1), index: {}});
};
const heat = async () => {
  for (let list = 0; list < 4; list++) await collections.view(type, '');
};
const keys = async (prefix = '') => (await collections.view(type, prefix))?.items.map(({key}) => key);
const scanned = async (prefix = '') => (await store.scan(type, {prefix})).items.map(({key}) => key);

describe('a collection that is listed often', () => {
  test('is what a scan would find, after every change, whatever the keys sort like', async () => {
    for (const key of ['a/x', 'a-b/x', 'ab/x', 'a/y', 'b/x']) await put(key);
    expect(await keys()).toBeUndefined();
    await heat();
    for (const change of [
      () => put('a/w'),
      () => put('a.b/x'),
      () => remove('a/x'),
      () => put('a/y'),
      () => remove('b/x'),
      () => put('0/x'),
    ]) {
      await change();
      for (const prefix of ['', 'a/', 'a-b/', 'b/', 'none/']) expect(await keys(prefix)).toEqual(await scanned(prefix));
    }
  });

  test('is scanned again when it has outgrown what is kept, and kept again when it shrinks', async () => {
    const large = 3 * 1024 * 1024;
    for (let at = 0; at < 21; at++) await put(`a/${at}`, large);
    await heat();
    for (let write = 0; write < 3; write++) await put('a/0', large);
    expect(await keys()).toHaveLength(21);
    expect(await keys()).toHaveLength(21);
    await put('a/21', large);
    expect(await keys()).toHaveLength(22);
    expect(await keys()).toBeUndefined();
    await remove('a/21');
    await heat();
    expect(await keys()).toHaveLength(21);
  });

  test('is dropped when nobody lists it', async () => {
    await put('a/x');
    await heat();
    clock.advance(61_000);
    expect(await keys()).toBeUndefined();
  });

  test('answers lists that come all at once', async () => {
    await put('a/x');
    await heat();
    const lists = Array.from({length: 50}, (_, at) => (at % 10 === 0 ? put(`a/${at}`).then(() => undefined) : keys('a/')));
    for (const list of await Promise.all(lists)) if (list) expect(list).toContain('a/x');
    expect(await keys('a/')).toEqual(await scanned('a/'));
  });
});
