/**
 * The commit protocol of the DynamoDB engine as a state machine: three writers, whoever fills holes and closes the log, a lister, a
 * sweeper, two keys, a few slots. Each atomic call to DynamoDB is one step, in any order; what DynamoDB does not promise (the two
 * items of a transaction show separately, answers get lost, machines freeze for a day) happens as steps of its own.
 *
 * Each rule can be taken away; model.test.ts shows that something breaks without it. explore.ts searches, promises.ts judges.
 */

import type {Machine} from './explore.ts';
import {
  assertEnd,
  assertFollows,
  assertList,
  assertNewEnough,
  assertNotEmptied,
  assertObjects,
  assertOutcome,
  assertSlotIsNew,
  assertState,
} from './promises.ts';
import {
  design,
  empty,
  encoded,
  filler,
  firstWriter,
  type Item,
  initialState,
  type Key,
  type Lister,
  listed,
  live,
  nothing,
  type Outcome,
  type Rules,
  renamings,
  type Scenario,
  type State,
  tombstone,
  type Writer,
} from './state.ts';

export function protocol(scenario: Scenario, rules: Rules = design): Machine<State> {
  const alike = renamings(scenario.writers);
  return {
    initial: initialState(scenario),
    *steps(state) {
      for (const index of state.writers.keys()) yield* writerSteps(state, index, scenario, rules);
      yield* storeSteps(state);
      yield* closerSteps(state, scenario, rules);
      if (scenario.lists) yield* listerSteps(state, scenario, rules);
      if (scenario.day) yield* sweeperSteps(state, rules);
      if (scenario.days) yield* expirySteps(state, scenario.days, rules);
    },
    identity: (state) => alike.map((renaming) => encoded(state, renaming)).sort()[0]!,
    check: (state) => assertState(state, scenario),
    checkEnd: (state) => assertEnd(state, scenario),
  };
}

type Steps = Iterable<readonly [string, () => State]>;

/** A copy in which one part is changed. Parts that are not named are shared: states are never changed after they are made. */
const changed = (state: State, change: Partial<State>): State => ({...state, ...change});
const replaced = <T>(list: readonly T[], index: number, change: Partial<T>): T[] =>
  list.map((item, at) => (at === index ? {...item, ...change} : item));
const withKey = (keys: State['keys'], index: number, change: Partial<Key>): State['keys'] => replaced(keys, index, change) as State['keys'];

function* writerSteps(state: State, index: number, scenario: Scenario, rules: Rules): Steps {
  const writer = state.writers[index]!;
  const {operation, key} = scenario.writers[index]!;
  const name = `${'ABC'[index]}:`;
  const become = (change: Partial<Writer>, rest: Partial<State> = {}): State => {
    const next = changed(state, {...rest, writers: replaced(state.writers, index, change)});
    if (change.outcome) assertOutcome(next, index);
    return next;
  };
  // What nobody asks for any more is cleared, so that states that behave alike are equal.
  const end = (outcome: Outcome): Partial<Writer> => ({step: 4, outcome, read: nothing, slot: 0, expired: false, terminating: false});

  if (writer.step === 0) {
    yield [
      `${name} reads ${'XY'[key]} to ${operation} it`,
      () => {
        const {visible} = state.keys[key];
        const read = {...visible, ghost: 0};
        if ((visible.kind === live) === (operation === 'create')) return become(end('refused'));
        return become({step: 1, read, terminating: state.terminating});
      },
    ];
  } else if (writer.step === 1) {
    const slot = state.sequencer + 1;
    // It closes the log first, as anybody may.
    if (isStale(state, scenario) && rules.reservesInClosedLogsOnly) return;
    const closedAt = Math.max(state.closedAt, state.sequencer === 0 ? state.today : 0);
    yield [
      slot < state.slots.length ? `${name} reserves ${slot}` : `${name} gives up`,
      () =>
        slot < state.slots.length
          ? become({step: scenario.emptying && operation === 'create' ? 2 : 3, slot, expired: false}, {sequencer: slot, closedAt})
          : become(end('gave up')),
    ];
  } else if (writer.step === 2) {
    yield [
      `${name} reads the namespace's phase`,
      () => {
        const terminating = rules.readsPhaseAfterReservation ? state.terminating : writer.terminating;
        return become(terminating ? end('refused') : {step: 3});
      },
    ];
  } else if (writer.step === 3) {
    if (writer.expired && rules.stopsAtDeadline) {
      yield [`${name} stops at its deadline`, () => become(end('gave up'))];
      return;
    }
    const {slot} = writer;
    const stored = state.slots[slot]!.stored;
    const item = state.keys[key].committed;
    // A transaction that is being applied holds its items: another one is refused and tries again.
    const held = item.ghost !== state.keys[key].visible.ghost;
    if (stored === firstWriter + index && rules.recognisesItsAttempt) {
      yield [`${name} tries again and finds its attempt in ${slot}`, () => become(end('ok'))];
    } else if (stored !== empty) {
      yield [`${name} finds ${slot} taken`, () => become({step: 1, slot: 0})];
    } else if (!held) {
      const expected = operation === 'create' ? item.kind !== live : item.kind === live && item.revision === writer.read.revision;
      if (!expected || (rules.writesUpwardsOnly && item.revision >= slot)) {
        yield [`${name} finds ${'XY'[key]} changed`, () => become(end('refused'))];
        return;
      }
      const commit = (change: Partial<Writer>): State => {
        assertSlotIsNew(state, slot);
        assertNotEmptied(state, scenario, index);
        const kept = operation !== 'delete' || rules.leavesTombstones;
        const committed: Item = kept
          ? {revision: slot, kind: operation === 'delete' ? tombstone : live, ghost: slot}
          : {...nothing, ghost: slot};
        const record = firstWriter + index;
        const next = become(change, {
          slots: replaced(state.slots, slot, {stored: record, ghost: record, old: false, at: state.today}),
          keys: withKey(state.keys, key, {committed, old: false}),
        });
        assertObjects(next, scenario);
        assertFollows(state, slot, index, scenario);
        return next;
      };
      yield [`${name} commits ${slot}`, () => commit(end('ok'))];
      yield [`${name} commits ${slot}, the answer is lost`, () => commit({})];
    }
  }
}

/**
 * The object item of a committed transaction shows later than its conditions count. So may the log item; that needs no step of its
 * own, because whoever waits for the slot may be late anyway.
 */
function* storeSteps(state: State): Steps {
  for (const [key, {committed, visible}] of state.keys.entries())
    if (committed.ghost !== visible.ghost)
      yield [`${'XY'[key]} at ${committed.revision} shows`, () => changed(state, {keys: withKey(state.keys, key, {visible: committed})})];
}

const dayIsOver = (state: State, scenario: Scenario, days: number): boolean =>
  scenario.days !== undefined && state.closedAt >= 0 && state.today - state.closedAt >= days;
const isStale = (state: State, scenario: Scenario): boolean => dayIsOver(state, scenario, 1);

function* closerSteps(state: State, scenario: Scenario, rules: Rules): Steps {
  const {slots, keys, sequencer, closedThrough, today, closedAt, noted} = state;
  if (isStale(state, scenario) && noted.at !== today)
    yield [`day ${today} and slot ${sequencer} are noted`, () => changed(state, {noted: {at: today, last: sequencer}})];
  const stamp = rules.stampsTheTimeBefore ? noted.at : today;
  if (noted.at > 0 && closedThrough >= noted.last && stamp > closedAt)
    yield [`the log was closed on day ${stamp}`, () => changed(state, {closedAt: stamp})];
  if (dayIsOver(state, scenario, 2) && rules.givesUpOldLogs) {
    if (closedThrough < sequencer)
      yield [
        `the log is given up through ${sequencer}`,
        () => changed(state, {closedThrough: sequencer, compactedThrough: sequencer, closedAt: today}),
      ];
    return;
  }
  const mayBeFilled = (slot: number): boolean => slots[slot]!.stored === empty || !rules.fillsEmptyOnly;
  // Holes are independent of each other, so the lowest one stands for all.
  for (let slot = rules.fillsAboveClosedOnly ? closedThrough + 1 : 1; rules.fillsHoles && slot <= sequencer; slot++) {
    if (!mayBeFilled(slot)) continue;
    yield [
      `${slot} is filled`,
      () => {
        assertSlotIsNew(state, slot);
        return changed(state, {slots: replaced(slots, slot, {stored: filler, ghost: filler, old: false, at: today})});
      },
    ];
    break;
  }
  const next = closedThrough + 1;
  if (next > sequencer) return;
  const written = slots[next]!.stored !== empty;
  const passedOver = !rules.closesWrittenOnly && slots.some((slot, at) => at > next && slot.stored !== empty);
  const settled = !rules.closesSettledOnly || keys.every((key) => key.committed.ghost !== next || key.visible.ghost === next);
  if ((written && settled) || passedOver) yield [`the log is closed through ${next}`, () => changed(state, {closedThrough: next})];
}

function* listerSteps(state: State, scenario: Scenario, rules: Rules): Steps {
  const {lister, keys, sequencer, closedThrough} = state;
  const become = (change: Partial<Lister>, rest: Partial<State> = {}): State => changed(state, {...rest, lister: {...lister, ...change}});

  if (scenario.emptying && !state.terminating) {
    yield ['the namespace is set Terminating', () => changed(state, {terminating: true})];
    return;
  }
  if (lister.step === 0) {
    const acknowledged = state.slots.findLastIndex(
      ({ghost}) => ghost >= firstWriter && state.writers[ghost - firstWriter]!.outcome === 'ok',
    );
    const begin = {step: 1, closed: closedThrough, acknowledged};
    yield [`list: closed through ${closedThrough}`, () => become(begin)];
    yield [`list: closed through ${closedThrough}, sequencer ${sequencer}`, () => become({...begin, early: sequencer + 1})];
  } else if (lister.step === 1 || lister.step === 2) {
    const at = lister.step - 1;
    const pages = replaced(lister.pages, at, {...keys[at]!.visible, ghost: 0}) as Lister['pages'];
    yield [`list: reads ${'XY'[at]} at ${keys[at]!.visible.revision}`, () => become({step: lister.step + 1, pages})];
  } else if (lister.step === 3) {
    const seen = lister.pages.filter((item) => item.kind === live || rules.heedsSeenTombstones).map((item) => item.revision);
    const reached = lister.early > 0 ? lister.early - 1 : sequencer;
    const newest = rules.readsSequencer ? reached : lister.closed;
    const upTo = Math.max(newest, ...(rules.heedsSeenRevisions ? seen : []));
    yield [
      `list: up to ${upTo}`,
      () => {
        assertNewEnough(lister.acknowledged, upTo);
        return become({step: 4, upTo, early: 0, acknowledged: 0});
      },
    ];
  } else if (lister.step === 4 && (closedThrough >= lister.upTo || !rules.replays)) {
    yield [
      `list: answers at ${lister.upTo}`,
      () => {
        // A slot that is missing at or below closedThrough was compacted: the list says 410 and is no answer.
        const missing = state.slots.some(({stored}, at) => at > lister.closed && at <= lister.upTo && stored === empty);
        if (!missing || !rules.replays) assertList(state, scenario, rules);
        return become({...listed}, {emptied: scenario.emptying === true});
      },
    ];
  }
}

/** Records expire two days after they were written, closed or not; whoever had a reservation, or was listing, has passed the deadline. */
function* expirySteps(state: State, days: number, rules: Rules): Steps {
  const {today, slots, keys, lister, writers} = state;
  if (today < days)
    yield [
      `day ${today + 1} comes`,
      () =>
        changed(state, {
          today: today + 1,
          // Nothing takes a day to show.
          keys: keys.map((key) => ({...key, visible: key.committed})) as State['keys'],
          lister: lister.step > 0 && rules.listStopsAtDeadline ? listed : lister,
          writers: writers.map((writer) => ({...writer, expired: writer.step === 2 || writer.step === 3})),
        }),
    ];
  for (const [slot, {stored, at}] of slots.entries())
    if (stored !== empty && today - at >= 2)
      yield [`slot ${slot} expires`, () => changed(state, {slots: replaced(slots, slot, {stored: empty, old: false})})];
}

/** A day passes, once. What stood then is old; reservations of before have passed their deadline. */
function* sweeperSteps(state: State, rules: Rules): Steps {
  if (!state.day) {
    yield [
      'a day passes',
      () =>
        changed(state, {
          day: true,
          slots: state.slots.map((slot) => ({...slot, old: slot.stored !== empty})),
          keys: state.keys.map((key) => ({...key, old: key.committed.kind === tombstone})) as State['keys'],
          lister: state.lister.step > 0 && rules.listStopsAtDeadline ? listed : state.lister,
          writers: state.writers.map((writer) => ({...writer, expired: writer.step === 2 || writer.step === 3})),
        }),
    ];
  }
  for (const [slot, {stored, old}] of state.slots.entries())
    if (slot <= state.closedThrough && stored !== empty && (old || (stored === filler && !rules.keepsFillers)))
      yield [`slot ${slot} is swept`, () => changed(state, {slots: replaced(state.slots, slot, {stored: empty, old: false})})];
  for (const [index, {committed, visible, old}] of state.keys.entries()) {
    if (committed.kind !== tombstone || visible.ghost !== committed.ghost) continue;
    const swept: Item = {...nothing, ghost: committed.ghost};
    if (rules.keepsTombstones && !(old && committed.revision <= state.closedThrough)) continue;
    yield [
      `the tombstone of ${'XY'[index]} is swept`,
      () => changed(state, {keys: withKey(state.keys, index, {committed: swept, visible: swept, old: false})}),
    ];
  }
}
