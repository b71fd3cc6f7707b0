/** Garbage collection by the log: doorbells come late, doubled and in any order, and nothing is collected too much or left over. */
import {beforeEach, describe, expect, test} from 'vitest';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import {seededRandom} from '../shared/storage/faults.ts';
import {type RungFunctions, rungFunctions} from './testing.ts';

interface Meta {
  name: string;
  uid: string;
}

let double: DynamoDouble;
let records: object[];
let ask: RungFunctions['ask'];
let ringAll: RungFunctions['ringAll'];
let controllers: RungFunctions['controllers'];
let maintenance: RungFunctions['maintenance'];

beforeEach(async () => {
  ({double, records, ask, ringAll, controllers, maintenance} = await rungFunctions());
  await ask('create', 'POST', '/api/v1/namespaces', {kind: 'Namespace', apiVersion: 'v1', metadata: {name: 'a'}});
  await ringAll();
}, 60_000);

const maps = '/api/v1/namespaces/a/configmaps';
const reference = ({name, uid}: Meta, more: object = {}) => ({apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more});
async function make(name: string, owners: readonly Meta[] = [], more: object = {}): Promise<Meta> {
  const ownerReferences = owners.map((owner) => reference(owner, more));
  const {code, body} = await ask('create', 'POST', maps, {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, ownerReferences}});
  expect(code).toBe(201);
  return body.metadata;
}
const remove = (name: string, propagationPolicy = 'Background') => ask('delete', 'DELETE', `${maps}/${name}`, {propagationPolicy});
const merge = (name: string, metadata: object) => ask('patch', 'PATCH', `${maps}/${name}`, {metadata}, 'application/merge-patch+json');
const isThere = async (name: string): Promise<boolean> => (await ask('get', 'GET', `${maps}/${name}`)).code === 200;
const all = async (): Promise<{metadata: Meta & {ownerReferences?: Meta[]}}[]> =>
  (await ask('list', 'GET', maps)).body.items.filter(({metadata}: {metadata: Meta}) => metadata.name !== 'kube-root-ca.crt');
const namesOf = async (): Promise<string[]> => (await all()).map(({metadata}) => metadata.name);

const ring = (batch: readonly object[]) => controllers({Records: batch});
const taken = (): object[] => records.splice(0);

async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
  double.metered = [];
  await work();
  const calls = double.metered.map(({verb}) => verb);
  double.metered = undefined;
  return calls;
}

describe('a dependent is collected', () => {
  test('that was made after its owner had gone', async () => {
    const owner = await make('owner');
    await remove('owner');
    await ringAll();
    await make('late', [owner]);
    await ringAll();
    expect(await namesOf()).toEqual([]);
  });

  test('whose record comes after that of its owner', async () => {
    const owner = await make('owner');
    await ringAll();
    await make('child', [owner]);
    const late = taken();
    await remove('owner');
    await ringAll();
    expect(await isThere('child')).toBe(true);
    await ring(late);
    expect(await isThere('child')).toBe(false);
  });

  test('whose owner’s record comes before it was made, and once more after it', async () => {
    const owner = await make('owner');
    await ringAll();
    await remove('owner');
    const went = taken();
    await ring(went);
    await make('child', [owner]);
    const born = taken();
    await ring(went);
    expect(await isThere('child')).toBe(true);
    await ring(born);
    expect(await isThere('child')).toBe(false);
  });

  test('that was adopted by an owner which had gone, also when the first ring for it fails', async () => {
    const owner = await make('owner');
    await make('child');
    await remove('owner');
    await ringAll();
    await merge('child', {ownerReferences: [reference(owner)]});
    const adopted = taken();
    const {transactWriteItems} = double;
    double.transactWriteItems = async () => {
      throw Object.assign(new Error('not now'), {name: 'ValidationException'});
    };
    await expect(ring(adopted)).rejects.toThrow();
    double.transactWriteItems = transactWriteItems;
    expect(await isThere('child')).toBe(true);
    await ring(adopted);
    expect(await isThere('child')).toBe(false);
  });

  test('with everything that it owned, in the same ring', async () => {
    const top = await make('top');
    const middle = await make('middle', [top]);
    await make('bottom', [middle]);
    await ringAll();
    await remove('top');
    await ring(taken());
    expect(await namesOf()).toEqual([]);
  });

  test('under a name that has been made again meanwhile, and the new one stays', async () => {
    const [first, second] = [await make('first'), await make('second')];
    await make('child', [first]);
    const born = taken();
    await remove('child');
    const went = taken();
    await make('child', [second]);
    const again = taken();
    for (const batch of [again, went, born, again]) await ring(batch);
    await remove('first');
    await ringAll();
    expect(await namesOf()).toEqual(['child', 'second']);
    await remove('second');
    await ringAll();
    expect(await namesOf()).toEqual([]);
  });
});

describe('a dependent stays', () => {
  test('cut loose, when its own record comes after its owner was orphaned', async () => {
    const owner = await make('owner');
    await ringAll();
    await make('child', [owner]);
    const late = taken();
    await remove('owner', 'Orphan');
    await ringAll();
    expect(await isThere('owner')).toBe(false);
    await ring(late);
    await ringAll();
    expect((await all()).map(({metadata}) => [metadata.name, metadata.ownerReferences])).toEqual([['child', undefined]]);
  });

  test('until somebody else lets go of it, and holds its owner back, when the record of it comes late', async () => {
    const owner = await make('owner');
    await ringAll();
    await make('child', [owner], {blockOwnerDeletion: true});
    await merge('child', {finalizers: ['example.com/hold']});
    const late = taken();
    await remove('owner', 'Foreground');
    await ringAll();
    expect(await namesOf()).toEqual(['child', 'owner']);
    await ring(late);
    await ringAll();
    expect(await namesOf()).toEqual(['child', 'owner']);
    await merge('child', {finalizers: null});
    await ringAll();
    expect(await namesOf()).toEqual([]);
  });

  test('with the owner that is left', async () => {
    const [a, b] = [await make('a'), await make('b')];
    await make('child', [a, b]);
    await ringAll();
    await remove('a');
    await ringAll();
    expect((await all()).map(({metadata}) => [metadata.name, metadata.ownerReferences?.map(({name}) => name)])).toEqual([
      ['b', undefined],
      ['child', ['b']],
    ]);
  });
});

test('a circle goes as a whole in the foreground', async () => {
  const a = await make('a');
  const b = await make('b', [a], {blockOwnerDeletion: true});
  const c = await make('c', [b], {blockOwnerDeletion: true});
  await merge('a', {ownerReferences: [reference(c, {blockOwnerDeletion: true})]});
  await ringAll();
  expect(await namesOf()).toEqual(['a', 'b', 'c']);
  await remove('a', 'Foreground');
  await ringAll();
  expect(await namesOf()).toEqual([]);
});

test('whatever order records come in, and however often, who has no owner left goes, and nobody else', {timeout: 60_000}, async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = seededRandom(seed);
    const some = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const made: Meta[] = [];
    /** Never deleted by us, and never had an owner. */
    const free = new Set<string>();
    const waiting: object[] = [];
    for (let step = 0; step < 24; step++) {
      const turn = made.length === 0 ? 0 : random();
      const {name} = turn < 0.6 ? {name: `o${seed}-${step}`} : some(made);
      if (turn < 0.25) free.add(name);
      else free.delete(name);
      if (turn < 0.25) made.push(await make(name));
      else if (turn < 0.6) made.push(await make(name, [...new Set([some(made), some(made)])]));
      else if (turn < 0.8) await remove(name);
      else await merge(name, {ownerReferences: [reference(some(made))]});
      waiting.push(...taken());
      // Some of what came, some of it for the second time.
      if (random() < 0.3) {
        const batch = waiting.filter(() => random() < 0.4).sort(() => random() - 0.5);
        if (batch.length > 0) expect(await ring(batch)).toEqual({batchItemFailures: []});
      }
    }
    for (const each of waiting.sort(() => random() - 0.5)) expect(await ring([each])).toEqual({batchItemFailures: []});
    await ringAll();
    const there = await all();
    const uids = new Set(there.map(({metadata}) => metadata.uid));
    for (const {metadata} of there)
      for (const {uid} of metadata.ownerReferences ?? []) expect(uids.has(uid), `seed ${seed}: ${metadata.name} has an owner`).toBe(true);
    for (const name of free) expect(await isThere(name), `seed ${seed}: ${name} is nobody's`).toBe(true);
    // By what maintenance sees, which reads everything, there is nothing to be done either, nor is anything missing in the index.
    const before = await namesOf();
    await maintenance({});
    taken();
    expect(await namesOf(), `seed ${seed}`).toEqual(before);
  }
});

describe('it costs', () => {
  test('nothing to make or change what owns nothing and has no owner', async () => {
    await make('one');
    await merge('one', {labels: {a: 'b'}});
    expect(await callsOf(ringAll)).toEqual([]);
  });

  test('an entry and a look at its owner to make a dependent, and one read to change any number of them', async () => {
    const owner = await make('owner');
    await make('first', [owner]);
    await ringAll();
    await make('second', [owner]);
    await make('third', [owner]);
    // Of both dependents, the owner is looked at once: a get is a batch.
    expect((await callsOf(ringAll)).sort()).toEqual(['batchGetItem', 'putItem', 'putItem']);
    for (const name of ['first', 'second', 'third']) await merge(name, {labels: {a: 'b'}});
    expect(await callsOf(ringAll)).toEqual(['batchGetItem']);
  });
});

describe('maintenance', () => {
  const entries = async () => {
    const {ownerIndex} = await import('./kit/controllers.ts');
    return (await (await ownerIndex()).all()).map(({type, key}) => `${type} ${key}`).sort();
  };

  test('notes what no ring told of', async () => {
    const owner = await make('owner');
    await make('child', [owner]);
    taken();
    expect(await entries()).toEqual([]);
    await maintenance({});
    expect(await entries()).toEqual(['configmaps a/child']);
    await remove('owner');
    await ringAll();
    expect(await namesOf()).toEqual([]);
  });

  test('takes back what is so no more, and nothing else', async () => {
    const owner = await make('owner');
    await make('left', [owner]);
    await make('stays', [owner]);
    const born = taken();
    await ring(born);
    await merge('left', {ownerReferences: null});
    await ringAll();
    expect(await entries()).toEqual(['configmaps a/left', 'configmaps a/stays']);
    await maintenance({});
    expect(await entries()).toEqual(['configmaps a/stays']);
    // A record of before, once more: it says what is not so, which is seen when it matters.
    await ring(born);
    await remove('owner');
    await ringAll();
    expect(await namesOf()).toEqual(['left']);
  });
});
