/** A record shows before its object does: what is decided then waits for it, and takes nobody for gone. */
import {expect, test} from 'vitest';
import type {Client} from '../../client/client.ts';
import {notFound} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import {catalogue} from '../../registry/catalogue.ts';
import type {Store} from '../../storage/contract.ts';
import type {OwnerIndex} from './owner-index.ts';
import {note, RungCollector, type TiedChange} from './rung.ts';

const subject = {group: '', resource: 'configmaps'};
const map = (name: string, uid: string, revision: number, owner?: {name: string; uid: string}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name,
    uid,
    namespace: 'a',
    resourceVersion: String(revision),
    ...(owner && {ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', ...owner}]}),
  },
});

/** Objects that show when the log has been asked for, as after `Store.log`. */
function world(shown: Record<string, KubeObject | undefined>, settled: Record<string, KubeObject | undefined>) {
  let objects = shown;
  const deleted: string[] = [];
  const asked: [number, number][] = [];
  const client = {
    async get(_path: unknown, name: string) {
      const object = objects[name];
      if (!object) throw notFound(subject, name);
      return object;
    },
    async delete(_path: unknown, name: string) {
      deleted.push(name);
      objects = {...objects, [name]: undefined};
    },
  } as unknown as Client;
  const store = {
    async log(_type: string, from: number, to: number) {
      asked.push([from, to]);
      objects = settled;
      return [];
    },
  } as unknown as Store;
  const dependents = [{owner: 'o', type: 'configmaps', key: 'a/child', uid: 'c', revision: 5}];
  const index: OwnerIndex = {
    unknown: async () => [],
    note: async () => {},
    forget: async () => {},
    dependentsOf: async (owner) => dependents.filter((each) => each.owner === owner),
    all: async () => dependents,
    retract: async () => {},
  };
  const rung = async (change: TiedChange): Promise<boolean> =>
    new RungCollector({client, catalogue: catalogue(), store, index}).collect(await note(index, [change]), new AbortController().signal);
  return {rung, deleted, asked};
}

const child = map('child', 'c', 5, {name: 'owner', uid: 'o'});
const owner = map('owner', 'o', 3);
const born: TiedChange = {type: 'configmaps', key: 'a/child', operation: 'create', revision: 5, object: child};
const went: TiedChange = {type: 'configmaps', key: 'a/owner', operation: 'delete', revision: 7, object: owner};

test('a dependent that does not show yet is collected when it does', async () => {
  const {rung, deleted, asked} = world({}, {child});
  expect(await rung(born)).toBe(true);
  expect(asked).toEqual([[4, 5]]);
  expect(deleted).toEqual(['child']);
});

test('a dependent that shows as it was before is looked at as it is', async () => {
  const {rung, deleted} = world({child: map('child', 'c', 4)}, {child});
  expect(await rung(born)).toBe(true);
  expect(deleted).toEqual(['child']);
});

test('an owner that still shows though it went is waited for, and its dependents go after that', async () => {
  const {rung, deleted, asked} = world({owner, child}, {child});
  expect(await rung(went)).toBe(true);
  expect(asked).toEqual([[6, 7]]);
  expect(deleted).toEqual(['child']);
});

test('what shows already costs no look into the log', async () => {
  const {rung, deleted, asked} = world({child}, {});
  expect(await rung(went)).toBe(true);
  expect(asked).toEqual([]);
  expect(deleted).toEqual(['child']);
});

test('an owner that cannot be seen to be gone is rung for again', async () => {
  const {rung, deleted} = world({owner, child}, {owner, child});
  await expect(rung(went)).rejects.toThrow('is there, though the log says that it went');
  expect(deleted).toEqual([]);
});

test('who is told to stop is rung again', async () => {
  const {deleted} = world({}, {});
  const abort = new AbortController();
  abort.abort();
  const index = {note: async () => {}, forget: async () => {}, unknown: async () => []} as unknown as OwnerIndex;
  const noted = await note(index, [went]);
  const collector = new RungCollector({client: {} as Client, catalogue: catalogue(), store: {} as Store, index});
  expect(await collector.collect(noted, abort.signal)).toBe(false);
  expect(deleted).toEqual([]);
});
