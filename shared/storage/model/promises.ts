/** What must hold in every state that the protocol can reach. Knows what was ever written (`ghost`), which the protocol does not. */

import {Violation} from './explore.ts';
import {
  absent,
  empty,
  filler,
  firstWriter,
  type Item,
  live,
  type Program,
  type Rules,
  type Scenario,
  type State,
  seed,
  tombstone,
} from './state.ts';

function programOf(ghost: number, scenario: Scenario): Program | undefined {
  if (ghost === seed) return {operation: 'create', key: 0};
  return ghost >= firstWriter ? scenario.writers[ghost - firstWriter] : undefined;
}

/** What the log, up to a slot, says of a key. */
function told(state: State, scenario: Scenario, key: number, through: number): Item {
  for (let slot = Math.min(through, state.slots.length - 1); slot > 0; slot--) {
    const program = programOf(state.slots[slot]!.ghost, scenario);
    if (program?.key === key) return {revision: slot, kind: program.operation === 'delete' ? tombstone : live, ghost: slot};
  }
  return {revision: 0, kind: absent, ghost: 0};
}

const alike = (a: Item, b: Item): boolean => (a.kind === live ? a.revision === b.revision && b.kind === live : b.kind !== live);

export function assertSlotIsNew(state: State, slot: number): void {
  if (state.slots[slot]!.ghost !== empty) throw new Violation('a revision names at most one change');
  if (slot <= state.closedThrough) throw new Violation('what is closed does not change');
}

/** A record follows, in the order of the log, what it was decided on. */
export function assertFollows(state: State, slot: number, index: number, scenario: Scenario): void {
  const {operation, key} = scenario.writers[index]!;
  const before = told(state, scenario, key, slot - 1);
  const follows =
    operation === 'create' ? before.kind !== live : before.kind === live && before.revision === state.writers[index]!.read.revision;
  if (!follows) throw new Violation('a change replaces exactly what it was decided on');
}

export function assertNotEmptied(state: State, scenario: Scenario, index: number): void {
  if (state.emptied && scenario.writers[index]!.operation === 'create') throw new Violation('nothing is created in an emptied namespace');
}

/** What a writer is told is what happened. */
export function assertOutcome(state: State, index: number): void {
  const happened = state.slots.some(({ghost}) => ghost === firstWriter + index);
  const {outcome} = state.writers[index]!;
  if (outcome === 'ok' && !happened) throw new Violation('an acknowledged write happened');
  if (outcome === 'refused' && happened) throw new Violation('a write that happened is not refused');
  const twice = state.slots.filter(({ghost}) => ghost === firstWriter + index).length > 1;
  if (twice) throw new Violation('a write happens once');
}

export function assertObjects(state: State, scenario: Scenario): void {
  for (const [key, {committed}] of state.keys.entries())
    if (!alike(told(state, scenario, key, state.slots.length), committed)) throw new Violation('the object is what the log says');
}

export function assertState(state: State, scenario: Scenario): void {
  assertObjects(state, scenario);
  for (const [key, {visible}] of state.keys.entries())
    if (visible.ghost < told(state, scenario, key, state.closedThrough).revision)
      throw new Violation('a read is not older than an event that was delivered');
  for (let slot = state.compactedThrough + 1; slot <= state.closedThrough; slot++)
    if (state.slots[slot]!.ghost === empty) throw new Violation('the closed prefix has no holes');
}

export function assertNewEnough(acknowledged: number, upTo: number): void {
  if (acknowledged > upTo) throw new Violation('a list is as new as what was acknowledged before it');
}

export function assertList(state: State, scenario: Scenario, rules: Rules): void {
  const {lister} = state;
  for (const [key, page] of lister.pages.entries()) {
    let item = page;
    for (let slot = lister.closed + 1; rules.replays && slot <= lister.upTo; slot++) {
      const {stored} = state.slots[slot]!;
      const program = stored === filler ? undefined : programOf(stored, scenario);
      if (program?.key === key) item = {revision: slot, kind: program.operation === 'delete' ? tombstone : live, ghost: slot};
    }
    if (!alike(told(state, scenario, key, lister.upTo), item)) throw new Violation('a list is the exact state at its version');
  }
}

/** When nothing more can happen, everybody has an answer and the log is closed: nobody waits for a hole. */
export function assertEnd(state: State, scenario: Scenario): void {
  if (state.closedThrough < state.sequencer) throw new Violation('every prefix of the log gets closed');
  if ((scenario.lists && state.lister.step !== 5) || state.writers.some((writer) => writer.step !== 4))
    throw new Violation('everybody gets an answer');
}
