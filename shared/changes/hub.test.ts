import {expect, test} from 'vitest';
import {type Change, type Store, StoreError, type Subscriber} from '../storage/contract.ts';
import {Hub} from './hub.ts';

const change = (revision: number): Change => ({
  key: `a/${revision}`,
  revision,
  image: new Uint8Array(1),
  index: {},
  operation: 'create',
  previousRevision: 0,
  time: 0,
});
const nobody = {offer() {}, ended() {}};
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A store as far as a hub sees it. */
function storeAt(head: number): {store: Store; subscriber(): Subscriber} {
  let subscriber: Subscriber | undefined;
  const store = {
    head: async () => head,
    subscribe: async (_type: string, _from: number, given: Subscriber) => {
      subscriber = given;
      return {close() {}};
    },
  } as unknown as Store;
  return {store, subscriber: () => subscriber!};
}

test('a hub whose subscription has ended takes nobody in: they would never hear of anything', async () => {
  const {store, subscriber} = storeAt(5);
  const hub = new Hub(store, 'things');
  expect(await hub.through()).toBe(5);
  subscriber().ended(new StoreError('Compacted', 'too old'));
  expect(hub.join(nobody, 5)).toBe(false);
  await hub.through();
  expect(hub.join(nobody, 5)).toBe(true);
});

test('a hub is live once it was told everything up to the head, and not with the first of several pages', async () => {
  const {store, subscriber} = storeAt(10);
  const hub = new Hub(store, 'things');
  await hub.through();
  subscriber().changes([change(7)], 7);
  await settled();
  expect(hub.live).toBe(false);
  subscriber().changes([change(10)], 10);
  await settled();
  expect(hub.live).toBe(true);
});

test('a hub that could not subscribe is closed without a complaint', async () => {
  const store = {head: () => Promise.reject(new StoreError('Unavailable', 'closed'))} as unknown as Store;
  const hub = new Hub(store, 'things');
  const asked = hub.through();
  await hub.close();
  await expect(asked).rejects.toThrow('closed');
});
