/** What is particular to this engine, on the double; and what of it needs no database. */

import {beforeAll, expect, test, vi} from 'vitest';
import {honest} from './double/double.ts';
import {bucketOf, bucketsOf, groupOf} from './keys.ts';
import {createTables, tablesOf} from './tables.ts';
import {engineStories} from './testing/stories.ts';

vi.setConfig({testTimeout: 60_000});

const client = Object.assign(honest(), {destroy() {}});
const tables = tablesOf('test-');
let clusters = 0;
beforeAll(() => createTables(client, tables));

engineStories({client, tables, cluster: () => `c${++clusters}`});

test('configuration types share the epoch, others have a sequencer each', () => {
  expect(groupOf('namespaces')).toBe(groupOf('clusterroles.rbac.authorization.k8s.io'));
  expect(groupOf('pods')).not.toBe(groupOf('services'));
});

test('a range of the log is read from each bucket that it touches, once', () => {
  expect(bucketsOf(0, 1)).toEqual([0]);
  expect(bucketsOf(63, 64)).toEqual([0]);
  expect(bucketsOf(63, 65)).toEqual([0, 1]);
  for (const [from, to] of [
    [0, 64],
    [10, 200],
    [900, 1100],
    [5, 5000],
  ] as const) {
    const touched = new Set(Array.from({length: to - from}, (_, n) => bucketOf(from + n + 1)));
    expect(new Set(bucketsOf(from, to))).toEqual(touched);
    expect(bucketsOf(from, to)).toHaveLength(touched.size);
  }
});
