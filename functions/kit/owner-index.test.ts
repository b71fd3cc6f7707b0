/** The index of owners as items, whatever order its records come in. */
import {beforeEach, describe, expect, test} from 'vitest';
import type {Reference} from '../../shared/controllers/garbage/owner-index.ts';
import {DynamoDouble} from '../../shared/storage/dynamo/double/double.ts';
import {createTables} from '../../shared/storage/dynamo/tables.ts';
import {DynamoOwnerIndex} from './owner-index.ts';

let index: DynamoOwnerIndex;
let other: DynamoOwnerIndex;

beforeEach(async () => {
  const calls = new DynamoDouble();
  await createTables(calls, {objects: 'connections', log: 'log'});
  const open = (cluster: string) => new DynamoOwnerIndex({calls, table: 'connections', cluster, now: () => 0});
  [index, other] = [open('default'), open('other')];
});

const by = (revision: number, more: Partial<Reference> = {}): Reference => ({
  owner: 'owner-uid',
  type: 'pods',
  key: 'a/b',
  uid: 'first',
  revision,
  ...more,
});
const found = async (): Promise<[string, number][]> =>
  (await index.dependentsOf('owner-uid')).map(({uid, revision}) => [uid, revision] as [string, number]);

describe('an entry', () => {
  test('is found by its owner, in its own cluster', async () => {
    await index.note(by(5), true);
    await index.note(by(6, {owner: 'another'}), true);
    expect(await index.dependentsOf('owner-uid')).toEqual([by(5)]);
    expect(await other.dependentsOf('owner-uid')).toEqual([]);
    expect(await index.all()).toHaveLength(2);
  });

  test('of an object that went is gone, also when what was before comes once more', async () => {
    await index.note(by(5), true);
    await index.forget(by(9));
    await index.note(by(5), true);
    expect(await found()).toEqual([]);
    expect(await index.all()).toEqual([]);
  });

  test('of the object that was made after it stays, whatever comes of the former', async () => {
    await index.note(by(11, {uid: 'second'}), true);
    await index.note(by(5), true);
    await index.forget(by(9));
    expect(await found()).toEqual([['second', 11]]);
  });

  test('is known to who asks, but for one of a former object and one whose owner was not looked for', async () => {
    expect(await index.unknown([by(5)])).toEqual([by(5)]);
    await index.note(by(5), false);
    expect(await index.unknown([by(6)])).toEqual([by(6)]);
    await index.note(by(5), true);
    expect(await index.unknown([by(6), by(12, {uid: 'second'})])).toEqual([by(12, {uid: 'second'})]);
    await index.forget(by(7));
    expect(await index.unknown([by(6)])).toEqual([by(6)]);
  });

  test('is taken back as it was read, and not when it was noted anew', async () => {
    await index.note(by(5), true);
    await index.note(by(8), true);
    await index.retract(by(5));
    expect(await found()).toEqual([['first', 8]]);
    await index.retract(by(8));
    expect(await found()).toEqual([]);
    await index.note(by(8), true);
    expect(await found()).toEqual([['first', 8]]);
  });
});

test('an owner may be called anything, and a key be as long as keys are', async () => {
  const reference = by(1, {owner: 'a|b\u0000é'.repeat(300), key: `${'n'.repeat(63)}/${'k'.repeat(932)}`});
  await index.note(reference, true);
  expect(await index.dependentsOf(reference.owner)).toEqual([reference]);
});
