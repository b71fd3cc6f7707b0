/**
 * What the protocol's machine is made of: the rules that can be taken away, who takes part, and the state that they share. States are
 * values: never changed after they are made, and equal by `encoded` when they behave alike.
 */

/** Each is a sentence of the design; false takes it away. */
export interface Rules {
  /** On a failed slot condition, my attempt id in the slot means that I succeeded. */
  recognisesItsAttempt: boolean;
  /** A reservation ends at its deadline, however long the machine was frozen. */
  stopsAtDeadline: boolean;
  /** A delete leaves a tombstone with its revision. */
  leavesTombstones: boolean;
  /** The stored revision must be below mine. */
  writesUpwardsOnly: boolean;
  /** A list closes the log up to W and replays (C, W]. */
  replays: boolean;
  /** W is at least every revision seen in the pages... */
  heedsSeenRevisions: boolean;
  /** ...tombstones included. */
  heedsSeenTombstones: boolean;
  /** A list is as new as the sequencer, not only as the closed prefix. */
  readsSequencer: boolean;
  /** A slot is closed only when its object item shows as well. */
  closesSettledOnly: boolean;
  /** Holes stop the closed prefix: they are filled, not passed over. */
  closesWrittenOnly: boolean;
  fillsHoles: boolean;
  /** A filler writes only into an empty slot. */
  fillsEmptyOnly: boolean;
  /** Nobody fills at or below closedThrough. */
  fillsAboveClosedOnly: boolean;
  /** Fillers outlive every writer. */
  keepsFillers: boolean;
  /** Tombstones stay until the log is closed through them, and a day. */
  keepsTombstones: boolean;
  /** A list, too, ends at a deadline: what it would replay or needs as a tombstone may have been swept. */
  listStopsAtDeadline: boolean;
  /** A creator reads its namespace's phase after its reservation. */
  readsPhaseAfterReservation: boolean;
  /** Nothing is reserved in a log that was not closed for a day. */
  reservesInClosedLogsOnly: boolean;
  /** A log that was not closed for two days is given up: what is missing in it may have expired, and is no hole. */
  givesUpOldLogs: boolean;
  /** Who closes the log says up to when by the time before it read how far it goes. */
  stampsTheTimeBefore: boolean;
}

export const design: Rules = {
  recognisesItsAttempt: true,
  stopsAtDeadline: true,
  leavesTombstones: true,
  writesUpwardsOnly: true,
  replays: true,
  heedsSeenRevisions: true,
  heedsSeenTombstones: true,
  readsSequencer: true,
  closesSettledOnly: true,
  closesWrittenOnly: true,
  fillsHoles: true,
  fillsEmptyOnly: true,
  fillsAboveClosedOnly: true,
  keepsFillers: true,
  keepsTombstones: true,
  listStopsAtDeadline: true,
  readsPhaseAfterReservation: true,
  reservesInClosedLogsOnly: true,
  givesUpOldLogs: true,
  stampsTheTimeBefore: true,
};

export interface Program {
  operation: 'create' | 'update' | 'delete';
  key: 0 | 1;
}

export interface Scenario {
  name: string;
  writers: readonly Program[];
  /** Key 0 stands at revision 1, closed, when it begins. */
  seeded: boolean;
  slots: number;
  /** Whether a day may pass, after which the sweeper works. */
  day: boolean;
  /** Whether somebody lists meanwhile. */
  lists: boolean;
  /** The list is of a namespace that is being deleted: its phase is set, then it is listed, then nothing may be created. */
  emptying?: boolean;
  /** So many days may pass, in which records expire, closed or not, two days after they were written. */
  days?: number;
}

export const empty = 0;
export const filler = 1;
/** The record that was there at the beginning; writers' records are `firstWriter + n`. */
export const seed = 2;
export const firstWriter = 3;

/** An object item: absent, live, or a tombstone. */
export const absent = 0;
export const live = 1;
export const tombstone = 2;
export interface Item {
  revision: number;
  kind: number;
  /** The change that left it so, also where the item no longer says; not part of the protocol. */
  ghost: number;
}

export interface Slot {
  stored: number;
  /** What was ever written here; not part of the protocol. */
  ghost: number;
  old: boolean;
  /** The day on which it was written. */
  at: number;
}

export interface Key {
  committed: Item;
  /** What a read shows; behind `committed` while a transaction is being applied. */
  visible: Item;
  old: boolean;
}

export type Outcome = '' | 'ok' | 'refused' | 'gave up';

export interface Writer {
  /** 0 read, 1 reserve, 2 look at the phase, 3 commit, 4 done. */
  step: number;
  read: Item;
  slot: number;
  expired: boolean;
  terminating: boolean;
  outcome: Outcome;
}

export interface Lister {
  /** 0 begin, 1 and 2 pages, 3 sequencer, 4 replay, 5 done. */
  step: number;
  closed: number;
  /** The sequencer, read before the pages; 0 when it is read after them. */
  early: number;
  upTo: number;
  pages: [Item, Item];
  /** The highest revision that was acknowledged before it began; not part of the protocol. */
  acknowledged: number;
}

export interface State {
  sequencer: number;
  closedThrough: number;
  /** Up to here the log was given up. */
  compactedThrough: number;
  /** Days that have passed, and the one before which everything that was handed out is closed; -1: nothing was handed out yet. */
  today: number;
  closedAt: number;
  /** Who closes the log has noted the day, and then the last slot. */
  noted: {at: number; last: number};
  day: boolean;
  terminating: boolean;
  emptied: boolean;
  /** From slot 1; index 0 is unused. */
  slots: Slot[];
  keys: [Key, Key];
  writers: Writer[];
  lister: Lister;
}

export const nothing: Item = {revision: 0, kind: absent, ghost: 0};
export const listed: Lister = {step: 5, closed: 0, early: 0, upTo: 0, pages: [nothing, nothing], acknowledged: 0};

export function initialState({writers, seeded, slots}: Scenario): State {
  const item: Item = seeded ? {revision: 1, kind: live, ghost: 1} : nothing;
  const state: State = {
    sequencer: seeded ? 1 : 0,
    closedThrough: seeded ? 1 : 0,
    compactedThrough: 0,
    today: 0,
    closedAt: seeded ? 0 : -1,
    noted: {at: -1, last: 0},
    day: false,
    terminating: false,
    emptied: false,
    slots: Array.from({length: slots + 1}, () => ({stored: empty, ghost: empty, old: false, at: 0})),
    keys: [
      {committed: item, visible: item, old: false},
      {committed: nothing, visible: nothing, old: false},
    ],
    writers: writers.map(() => ({step: 0, read: nothing, slot: 0, expired: false, terminating: false, outcome: ''})),
    lister: {...listed, step: 0},
  };
  if (seeded) state.slots[1] = {stored: seed, ghost: seed, old: false, at: 0};
  return state;
}

/** Orders of the writers that keep each one's program: who is called A does not matter. */
export function renamings(programs: readonly Program[]): number[][] {
  const orders = (rest: number[]): number[][] =>
    rest.length === 0 ? [[]] : rest.flatMap((first) => orders(rest.filter((other) => other !== first)).map((order) => [first, ...order]));
  const same = (a: Program, b: Program): boolean => a.operation === b.operation && a.key === b.key;
  return orders([...programs.keys()]).filter((order) => order.every((from, to) => same(programs[from]!, programs[to]!)));
}

/** Everything, one character per number; `order` says which writer stands where. */
export function encoded(state: State, order: readonly number[]): string {
  const record = (value: number): number => (value < firstWriter ? value : firstWriter + order.indexOf(value - firstWriter));
  const item = ({revision, kind, ghost}: Item): number => (ghost * 8 + revision) * 3 + kind;
  const {lister} = state;
  const numbers = [
    state.sequencer,
    state.closedThrough,
    state.compactedThrough,
    state.today * 8 + state.closedAt + 1,
    state.noted.at + 1,
    state.noted.last,
    Number(state.day) + 2 * Number(state.terminating) + 4 * Number(state.emptied),
    lister.step,
    lister.closed,
    lister.early,
    lister.upTo,
    lister.acknowledged,
    item(lister.pages[0]),
    item(lister.pages[1]),
  ];
  for (const {stored, ghost, old, at} of state.slots) numbers.push(((record(stored) * 10 + record(ghost)) * 2 + Number(old)) * 8 + at);
  for (const {committed, visible, old} of state.keys) numbers.push(item(committed), item(visible), Number(old));
  for (const index of order) {
    const {step, read, slot, expired, terminating, outcome} = state.writers[index]!;
    numbers.push(step, item(read), slot, Number(expired) + 2 * Number(terminating), Number(outcome === 'ok'));
  }
  return String.fromCharCode(...numbers);
}
