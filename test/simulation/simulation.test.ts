/** A few seconds of what `npm run simulate` does for as long as one likes. */

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Change} from '../../shared/storage/contract.ts';
import {History} from './history.ts';
import {simulate} from './simulate.ts';

describe('the store keeps its promises to many clients at once', () => {
  for (let seed = 1; seed <= 12; seed++) {
    test(`in memory, seed ${seed}`, async () => {
      const simulated = await simulate({seed, turns: 800});
      expect(simulated.changes).toBeGreaterThan(50);
    });
  }

  for (let seed = 101; seed <= 103; seed++) {
    test(`on disk and reopened now and then, seed ${seed}`, async () => {
      const path = await mkdtemp(join(tmpdir(), 'simulated-'));
      try {
        const simulated = await simulate({seed, path, turns: 1_500});
        expect(simulated.acknowledged).toBeGreaterThan(0);
      } finally {
        await rm(path, {recursive: true, force: true});
      }
    });
  }

  test('a seed repeats a run', async () => {
    expect(await simulate({seed: 5, turns: 300})).toEqual(await simulate({seed: 5, turns: 300}));
  });
});

describe('the judge finds', () => {
  const change = (revision: number, key: string, operation: Change['operation'], previousRevision = 0): Change => ({
    key,
    revision,
    image: Buffer.from(`t${revision}`),
    index: {},
    operation,
    previousRevision,
    time: 0,
    ...(previousRevision > 0 && {previousIndex: {}}),
  });
  const past = (): History => {
    const history = new History();
    history.archive.set('pods', [change(1, 'a', 'create'), change(2, 'b', 'create'), change(3, 'a', 'update', 1)]);
    const write = (key: string, revision: number, began: number, ended: number) =>
      history.writes.push({type: 'pods', key, token: `t${revision}`, began, ended, outcome: {revision}});
    write('a', 1, 1, 2);
    write('b', 2, 3, 4);
    write('a', 3, 5, 6);
    return history;
  };
  const item = (key: string, revision: number) => ({key, revision, token: `t${revision}`});
  const faults: [name: string, spoil: (history: History) => void, promise: RegExp][] = [
    ['nothing, where all is well', () => {}, /^$/],
    ['a lost write', (h) => h.archive.get('pods')!.pop(), /acknowledged write happened/],
    [
      'a refused write that happened',
      (h) => {
        h.writes[1]!.outcome = 'refused';
      },
      /refused write did not happen/,
    ],
    ['reordered revisions', (h) => h.archive.get('pods')!.unshift(change(4, 'c', 'create')), /revisions increase/],
    ['a stale read', (h) => h.reads.push({type: 'pods', key: 'a', began: 7, ended: 8, revision: 1}), /linearizable/],
    ['a read of the future', (h) => h.reads.push({type: 'pods', key: 'a', began: 3, ended: 4, revision: 3}), /not yet written/],
    ['an object that vanished', (h) => h.reads.push({type: 'pods', key: 'a', began: 7, ended: 8, revision: 'absent'}), /finds nothing/],
    [
      'a list of two moments',
      (h) => h.lists.push({type: 'pods', prefix: '', revision: 2, exact: true, items: [item('a', 3), item('b', 2)], began: 7, ended: 8}),
      /exact state/,
    ],
    [
      'a stale list',
      (h) => h.lists.push({type: 'pods', prefix: '', revision: 1, exact: false, items: [item('a', 1)], began: 7, ended: 8}),
      /not older/,
    ],
    [
      'a lost event',
      (h) => h.watches.push({type: 'pods', from: 0, through: 3, changes: h.archive.get('pods')!.slice(1)}),
      /once and in order/,
    ],
    [
      'a doubled event',
      (h) => h.watches.push({type: 'pods', from: 1, through: 2, changes: [1, 1].map((at) => h.archive.get('pods')![at]!)}),
      /once and in order/,
    ],
  ];
  for (const [name, spoil, promise] of faults) {
    test(name, () => {
      const history = past();
      spoil(history);
      const found = (() => {
        try {
          history.check();
          return '';
        } catch (error) {
          return (error as Error).message;
        }
      })();
      expect(found).toMatch(promise);
    });
  }
});
