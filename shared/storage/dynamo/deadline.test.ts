/** The end of an invocation, as a session's deadline: by then whoever asked has an answer, and nothing of the write is done any more. */
import {beforeEach, describe, expect, test} from 'vitest';
import {isStoreError, type Session} from '../contract.ts';
import {seededRandom} from '../faults.ts';
import {create, pods, update} from '../suite/helpers.ts';
import {honest} from './double/double.ts';
import {throughputExceeded, timedOut} from './double/errors.ts';
import {callOf, eachCall, type Verb} from './double/faults.ts';
import {Steps} from './double/steps.ts';
import {type DynamoStore, openDynamo} from './open.ts';
import {createTables, tablesOf} from './tables.ts';

/** What becomes of a call: it goes unless this throws, or answers for it. */
type Fate = (verb: Verb, input: object, signal: AbortSignal | undefined) => Promise<object> | undefined;

const goes: Fate = () => undefined;
const throttled = (): never => {
  throw throughputExceeded();
};
const aSecondMs = 1_000;
const database = honest();
const tables = tablesOf('test-');
let clusters = 0;

let time: Steps;
let fate: Fate;
/** Every call that left, with when. */
let calls: {verb: Verb; at: number}[];
let store: DynamoStore;

beforeEach(async () => {
  if (clusters === 0) await createTables(database, tables);
  time = new Steps();
  fate = goes;
  calls = [];
  const client = eachCall(async (verb, input, signal) => {
    calls.push({verb, at: time.now()});
    return (await fate(verb, input, signal)) ?? callOf(database, verb)(input);
  });
  store = await openDynamo({
    client,
    tables,
    cluster: `deadline${++clusters}`,
    clock: time,
    monotonic: () => time.now(),
    random: seededRandom(clusters),
    poll: {busyMs: 1e7, restMs: 1e7},
  });
  await create(store, 'first');
});

/** The code of what it fails with, or `made`, and when that was known. */
async function outcomeOf(work: Promise<unknown>): Promise<{outcome: string; at: number}> {
  let known: {outcome: string; at: number} | undefined;
  const done = (outcome: string): void => {
    known = {outcome, at: time.now()};
  };
  work.then(
    () => done('made'),
    (error: unknown) => done(isStoreError(error) ? error.code : String(error)),
  );
  await time.run(() => known === undefined);
  return known ?? {outcome: 'none', at: Number.NaN};
}

const until = async (ms: number): Promise<{session: Session; deadline: number}> => {
  const deadline = time.now() + ms;
  return {session: await store.begin({deadline}), deadline};
};
const sent = (verb: Verb): number[] => calls.filter((call) => call.verb === verb).map(({at}) => at);

/** A day later, and whatever still waited for something: is it written? */
async function isThereLater(key: string): Promise<boolean> {
  fate = goes;
  time.leap(24 * 3600 * aSecondMs);
  let found: unknown;
  let answered = false;
  void store.read(pods, key).then((item) => {
    found = item;
    answered = true;
  });
  await time.run(() => !answered);
  return found !== undefined;
}

describe('a write at the end of its invocation', () => {
  test('that is throttled is given up in time, and leaves no hole', async () => {
    const {session, deadline} = await until(6 * aSecondMs);
    fate = (verb) => (verb === 'transactWriteItems' ? throttled() : undefined);
    const {outcome, at} = await outcomeOf(create(session, 'a'));
    expect(outcome).toBe('Unavailable');
    expect(at).toBeLessThan(deadline);
    expect(Math.max(...sent('transactWriteItems'))).toBeLessThan(deadline - 2 * aSecondMs);
    // Its slot was filled: nobody has to wait for it.
    expect(sent('putItem')[0]).toBeLessThan(deadline);
    expect(await isThereLater('a')).toBe(false);
  });

  test('without a deadline tries for longer', async () => {
    fate = (verb) => (verb === 'transactWriteItems' ? throttled() : undefined);
    const began = time.now();
    const {outcome} = await outcomeOf(create(store, 'a'));
    expect(outcome).toBe('Unavailable');
    expect(Math.max(...sent('transactWriteItems')) - began).toBeGreaterThan(15 * aSecondMs);
  });

  test('is not begun when too little is left', async () => {
    const {session} = await until(1.5 * aSecondMs);
    calls = [];
    expect((await outcomeOf(create(session, 'a'))).outcome).toBe('Unavailable');
    expect(calls).toEqual([]);
  });

  test('whose answer got lost is found out about', async () => {
    const {session, deadline} = await until(6 * aSecondMs);
    let lost = false;
    fate = (verb, input) => {
      if (verb !== 'transactWriteItems') return undefined;
      if (lost) return throttled();
      lost = true;
      return callOf(
        database,
        verb,
      )(input).then(() => {
        throw timedOut();
      });
    };
    const {outcome, at} = await outcomeOf(create(session, 'a'));
    expect(outcome).toBe('made');
    expect(at).toBeLessThan(deadline);
  });

  test('whose answer does not come is asked for in what is left', async () => {
    const {session, deadline} = await until(6 * aSecondMs);
    fate = (verb, input, signal) => {
      if (verb !== 'transactWriteItems') return undefined;
      // It is done, and the connection stands still.
      return callOf(
        database,
        verb,
      )(input).then(
        () => new Promise((_, fail) => signal!.addEventListener('abort', () => fail(Object.assign(new Error(), {name: 'AbortError'})))),
      );
    };
    const {outcome, at} = await outcomeOf(create(session, 'a'));
    expect(outcome).toBe('made');
    expect(at).toBeLessThan(deadline);
  });

  test('of which nobody can say is told to be unknown, and nothing goes on afterwards', async () => {
    const {session, deadline} = await until(6 * aSecondMs);
    fate = (verb, input) =>
      verb === 'transactWriteItems'
        ? callOf(
            database,
            verb,
          )(input).then(() => {
            throw timedOut();
          })
        : verb === 'putItem' || verb === 'getItem'
          ? throttled()
          : undefined;
    const {outcome, at} = await outcomeOf(create(session, 'a'));
    expect(outcome).toBe('OutcomeUnknown');
    expect(at).toBeLessThanOrEqual(deadline + aSecondMs);
    expect(Math.max(...calls.map((call) => call.at))).toBeLessThan(deadline);
  });

  test('that is frozen before it commits, and thaws when all is over, is not made', async () => {
    const {session} = await until(20 * aSecondMs);
    fate = (verb) => {
      // The environment is frozen with the answer of its reservation under way.
      if (verb === 'updateItem') time.leap(25 * aSecondMs);
      return undefined;
    };
    expect((await outcomeOf(create(session, 'a'))).outcome).toBe('Unavailable');
    expect(sent('transactWriteItems')).toHaveLength(1);
    expect(await isThereLater('a')).toBe(false);
  });

  test('reads what it replaces no longer than there is time', async () => {
    const {session, deadline} = await until(4 * aSecondMs);
    fate = (verb) => (verb === 'getItem' ? throttled() : undefined);
    expect((await outcomeOf(update(session, 'other', 1))).outcome).toBe('Unavailable');
    expect(Math.max(...sent('getItem'))).toBeLessThan(deadline);
  });
});

test('a session that begins when all is over is told so', async () => {
  const begun = outcomeOf(store.begin({deadline: time.now() - 1}));
  expect((await begun).outcome).toBe('Unavailable');
});
