/**
 * The protocol of the DynamoDB engine, searched through: no interleaving breaks a promise, and each rule is needed, because without
 * it some interleaving does. The histories that the design warns of are among those.
 */

import {describe, expect, test} from 'vitest';
import {explore} from './explore.ts';
import {protocol} from './protocol.ts';
import {design, type Program, type Rules, type Scenario} from './state.ts';

const scenario = (name: string, writers: string, options: Partial<Scenario>): Scenario => ({
  name,
  writers: writers.split(', ').map((program) => {
    const [operation, key] = program.split(' ');
    return {operation: operation as Program['operation'], key: key === 'Y' ? 1 : 0};
  }),
  seeded: false,
  slots: 4,
  day: false,
  lists: false,
  ...options,
});

const scenarios = {
  contended: scenario('one object', 'create X, create X, delete X', {slots: 3, lists: true}),
  pages: scenario('two objects, so that a list has two pages', 'create X, create Y, delete X', {slots: 3, lists: true}),
  replaced: scenario('an object that is replaced and deleted', 'update X, update X, delete X', {seeded: true}),
  replacedListed: scenario('a list of what is replaced', 'update X, delete X', {seeded: true, lists: true}),
  listDay: scenario('a list, and a day', 'create X, delete X', {slots: 3, lists: true, day: true}),
  writersDay: scenario('three writers, and a day', 'create X, create X, delete X', {day: true}),
  rest: scenario('a log at rest for days, whose records expire', 'create X, delete X', {slots: 3, days: 3}),
  restListed: scenario('a list of a log at rest for days', 'update X', {seeded: true, slots: 3, days: 3, lists: true}),
  emptying: scenario('a namespace that is being emptied', 'create Y, delete X', {seeded: true, slots: 3, lists: true, emptying: true}),
};

describe('the design keeps every promise, whatever happens in whichever order', () => {
  for (const each of Object.values(scenarios)) {
    test(each.name, {timeout: 60_000}, () => {
      const explored = explore(protocol(each));
      expect(explored.violation).toBeUndefined();
      expect(explored.states).toBeGreaterThan(1_000);
    });
  }
});

interface Trap {
  history: string;
  without: keyof Rules;
  where: keyof typeof scenarios;
  promise: string;
  /** Looks at lists alone: another promise would break earlier. */
  listsOnly?: boolean;
}

const traps: Trap[] = [
  {
    history: 'a retry after a lost answer reports a conflict for a write that happened',
    without: 'recognisesItsAttempt',
    where: 'contended',
    promise: 'a write that happened is not refused',
  },
  {
    history: 'a frozen environment thaws and commits into a slot that was filled and swept',
    without: 'stopsAtDeadline',
    where: 'writersDay',
    promise: 'a revision names at most one change',
  },
  {
    history: 'a slow creator commits below a delete: an object that the log calls deleted (no tombstone)',
    without: 'leavesTombstones',
    where: 'contended',
    promise: 'the object is what the log says',
  },
  {
    history: 'a slow creator commits below a delete: an object that the log calls deleted (over the tombstone)',
    without: 'writesUpwardsOnly',
    where: 'contended',
    promise: 'the object is what the log says',
  },
  {
    history: 'a slot reserved before the list is committed after its page was read, the sequencer standing still',
    without: 'replays',
    where: 'pages',
    promise: 'a list is the exact state at its version',
  },
  {
    history: 'a slot is closed while its object item does not show: a list misses it',
    without: 'closesSettledOnly',
    where: 'pages',
    promise: 'a list is the exact state at its version',
    listsOnly: true,
  },
  {
    history: 'a slot is closed while its object item does not show: a read is older than an event',
    without: 'closesSettledOnly',
    where: 'pages',
    promise: 'a read is not older than an event that was delivered',
  },
  {
    history: 'a page shows a change that is newer than the version of the list',
    without: 'heedsSeenRevisions',
    where: 'pages',
    promise: 'a list is the exact state at its version',
  },
  {
    history: 'a page lacks an object that was deleted after the version of the list',
    without: 'heedsSeenTombstones',
    where: 'pages',
    promise: 'a list is the exact state at its version',
  },
  {
    history: 'a list at the closed prefix lacks what was acknowledged before it',
    without: 'readsSequencer',
    where: 'pages',
    promise: 'a list is as new as what was acknowledged before it',
  },
  {
    history: 'a watch passes over a hole, which is written afterwards',
    without: 'closesWrittenOnly',
    where: 'contended',
    promise: 'the closed prefix has no holes',
  },
  {
    history: 'a crashed writer leaves a hole, and everybody waits for it',
    without: 'fillsHoles',
    where: 'writersDay',
    promise: 'every prefix of the log gets closed',
  },
  {
    history: 'a filler writes over a record',
    without: 'fillsEmptyOnly',
    where: 'contended',
    promise: 'a revision names at most one change',
  },
  {
    history: 'a late filler fills a slot that was closed and swept',
    without: 'fillsAboveClosedOnly',
    where: 'writersDay',
    promise: 'a revision names at most one change',
  },
  {
    history: 'a filler is swept before the writer whose slot it took has stopped',
    without: 'keepsFillers',
    where: 'writersDay',
    promise: 'a revision names at most one change',
  },
  {
    history: 'a tombstone is swept while a creator below it may still commit',
    without: 'keepsTombstones',
    where: 'writersDay',
    promise: 'the object is what the log says',
  },
  {
    history: 'a list sleeps for a day and misses a delete whose tombstone is gone',
    without: 'listStopsAtDeadline',
    where: 'listDay',
    promise: 'a list is the exact state at its version',
  },
  {
    history: 'a creator that saw the namespace alive commits after it was emptied',
    without: 'readsPhaseAfterReservation',
    where: 'emptying',
    promise: 'nothing is created in an emptied namespace',
  },
  {
    history: 'a reader takes what expired before it was closed for a hole, and fills it',
    without: 'givesUpOldLogs',
    where: 'rest',
    promise: 'a revision names at most one change',
  },
  {
    history: 'a log is given up as too old while a writer is about to commit into it, or has just done so',
    without: 'reservesInClosedLogsOnly',
    where: 'rest',
    promise: 'a read is not older than an event that was delivered',
  },
  {
    history: 'a slow closer says that everything is closed by now, and what was reserved meanwhile expires before anybody doubts it',
    without: 'stampsTheTimeBefore',
    where: 'rest',
    promise: 'a revision names at most one change',
  },
];

describe('without one of its rules it breaks', () => {
  for (const {history, without, where, promise, listsOnly} of traps) {
    test(`${without}: ${history}`, {timeout: 60_000}, () => {
      const machine = protocol(scenarios[where], {...design, [without]: false});
      const {violation} = explore(listsOnly ? {...machine, check: () => {}} : machine);
      expect(violation?.promise, violation?.history.join('; ')).toBe(promise);
    });
  }

  test('no rule is untested', () => {
    expect(new Set(traps.map(({without}) => without))).toEqual(new Set(Object.keys(design)));
  });
});
