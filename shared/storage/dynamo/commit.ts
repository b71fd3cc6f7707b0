/**
 * One write: reserve a revision, then a transaction of two items, the object and its record in the log. Everything slow happens before
 * the reservation, which ends at a deadline. A write that may have happened is looked up, never assumed: the attempt in its slot tells.
 */

import type {TransactWriteItemsCommandInput} from '@aws-sdk/client-dynamodb';
import {type Change, type Operation, type Revision, type Stored, StoreError, type Write} from '../contract.ts';
import {maxImageBytes, maxKeyBytes} from '../limits.ts';
import type {Bodies} from './chunks.ts';
import {type ChangeRecord, type Item, objectFrom, objectItem, recordFrom, type SlotRecord} from './items.ts';
import {groupOf} from './keys.ts';
import type {Known} from './known.ts';
import type {Log} from './log.ts';
import {type Place, staleMsOf} from './place.ts';
import {type Deadline, failureOf, unavailable} from './retry.ts';
import type {Sequence, Sequencer} from './sequencer.ts';

/** How long a reservation may take to commit; what fills and sweeps relies on at most 60 s. */
const reservationMs = 20_000;
/** After it nobody may touch the slot any more, not even to fill it: it may have been filled, closed and swept. */
const lastWordMs = 60_000;
/** Of it, what a writer spends on finding out, and on leaving no hole behind. */
const askingMs = 5_000;
const givingUpMs = 2_000;
/** Of a write with a deadline of its own, what is left at its end for finding out and giving up. */
const windingUpMs = 2_000;
/** Beginning again, because the slot was filled by who could not wait, ends then. */
const overtakenMs = 20_000;
/** Commits under way at once; the others wait before they reserve, so that no slot waits for its turn. */
const maxCommits = 48;

const slotIsEmpty = 'attribute_not_exists(pk)';
const isFree = 'attribute_not_exists(pk) OR (dead = :dead AND rev < :mine)';
const isUnchanged = 'rev = :expected AND attribute_not_exists(dead)';

export interface Committed {
  group: string;
  stored: Stored;
  change: Change;
  record: ChangeRecord;
  sequence: Sequence;
}

/** What stands between a reservation and its commit: an optimistic session's look at the configuration. */
export type Check = (sequence: Sequence) => Promise<void>;

/** The image, if this becomes the revision. */
interface Guess {
  revision: Revision;
  image: Uint8Array;
}

/** Until when what. */
interface Limits {
  /** The transaction may be sent. */
  commit: Deadline;
  /** The slot may be touched. */
  slot: Deadline;
  /** Somebody waits for the answer. */
  answer: Deadline;
}

type Refresh = (group: string, deadline: Deadline) => Promise<void>;

type Outcome =
  | {kind: 'done'}
  /** The slot was filled by somebody who needed it. */
  | {kind: 'overtaken'}
  /** The object is not what was expected; the slot is ours and empty. */
  | {kind: 'refused'; current: Item | undefined};

export class Commits {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #log: Log;
  readonly #bodies: Bodies;
  readonly #refresh: Refresh;
  /** The last revision of each group that this process was handed. */
  readonly #last = new Map<string, Revision>();
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  /** `refresh`: closes the log of a group after a long rest. */
  constructor(place: Place, sequencer: Sequencer, log: Log, bodies: Bodies, refresh: Refresh) {
    this.#place = place;
    this.#sequencer = sequencer;
    this.#log = log;
    this.#bodies = bodies;
    this.#refresh = refresh;
  }

  /** `previous`: what the write replaces, at exactly the expected revision. */
  async write(write: Write, previous: Known | undefined, check?: Check): Promise<Committed> {
    assertFits(write);
    const {patience} = this.#place;
    const last = lastAttempt(write);
    if (last !== undefined && last <= patience.clock.now())
      throw new StoreError('Unavailable', 'the deadline passed before the write was attempted');
    // What cannot be encoded, or is too large, is known before anything is reserved. With some luck it is the image already.
    const guess = (this.#last.get(groupOf(write.type)) ?? 0) + 1;
    const guessed = {revision: guess, image: write.encode(guess)};
    if (guessed.image.length > maxImageBytes) throw tooLarge(write, guessed.image.length);
    if (this.#underWay >= maxCommits) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay++;
    try {
      const until = patience.by(lastAttempt(write), overtakenMs);
      do {
        const committed = await this.#attempt(write, guessed, previous, check);
        if (committed) return committed;
      } while (!patience.passed(until));
      throw new StoreError('Unavailable', 'others needed the revisions of this write before it could use them');
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay--;
    }
  }

  /** Undefined: the slot was filled meanwhile, or lies below a deletion; a new revision is needed. */
  async #attempt(write: Write, guessed: Guess, previous: Known | undefined, check: Check | undefined): Promise<Committed | undefined> {
    const {patience} = this.#place;
    const group = groupOf(write.type);
    // From before the request is sent: the slot may be handed out at once, and its answer be late.
    const deadline = patience.by(lastAttempt(write), reservationMs);
    const slot = patience.in(lastWordMs);
    const answer = patience.by(write.deadline, Number.POSITIVE_INFINITY);
    const limits: Limits = {commit: deadline, slot: patience.earlier(slot, answer), answer};
    const began = patience.elapsed();
    const sequence = await this.#sequencer.reserve(group, staleMsOf(this.#place), deadline);
    if (!sequence) {
      await this.#refresh(group, deadline);
      return undefined;
    }
    const revision = sequence.last;
    this.#log.reserved(group, revision);
    this.#last.set(group, Math.max(revision, this.#last.get(group) ?? 0));
    let written: number | undefined;
    let outcome: Outcome | undefined;
    try {
      await check?.(sequence);
      const made = await this.#transaction(write, revision, guessed, previous, group, deadline);
      outcome = await this.#send(made.request, made.record, group, limits);
      if (outcome.kind === 'done') {
        written = patience.elapsed() - began;
        return {group, stored: made.stored, change: made.change, record: made.record, sequence};
      }
    } catch (error) {
      // Nothing of this revision will be written any more, unless nobody can say.
      if (!(error instanceof StoreError && error.code === 'OutcomeUnknown')) await this.#giveUp(group, revision, limits);
      throw error;
    } finally {
      this.#log.done(group, revision, written);
    }
    if (outcome.kind === 'overtaken') return undefined;
    await this.#giveUp(group, revision, limits);
    const refusal = await this.#refusal(write, outcome.current, revision, deadline);
    if (refusal) throw refusal;
    return undefined;
  }

  /** Fills our own slot, so that nobody has to wait for it. Who needs it fills it as well. */
  async #giveUp(group: string, revision: Revision, {slot}: Limits): Promise<void> {
    this.#log.done(group, revision);
    const {patience} = this.#place;
    await this.#log.fill(group, revision, patience.earlier(slot, patience.in(givingUpMs))).catch(() => undefined);
  }

  async #transaction(write: Write, revision: Revision, guessed: Guess, previous: Known | undefined, group: string, deadline: Deadline) {
    const {type, key, operation, index, expected} = write;
    const {keys, tables, patience, keepMs, historyMs} = this.#place;
    const attempt = this.#place.newAttempt();
    const image = revision === guessed.revision ? guessed.image : write.encode(revision);
    if (image.length > maxImageBytes) throw tooLarge(write, image.length);
    const body = await this.#bodies.put({image, index}, attempt, {type, key}, deadline);
    const at = patience.clock.now();
    const done: Operation = operation === 'delete' ? 'delete' : expected === 'absent' ? 'create' : 'update';
    const previousRevision = expected === 'absent' ? 0 : expected;
    const record: ChangeRecord = {revision, attempt, at, type, key, operation: done, previousRevision, body};
    const stored: Stored = {key, revision, image, index};
    const change: Change = {...stored, operation: done, previousRevision, time: at};
    if (previous) {
      change.previousIndex = previous.stored.index;
      // Its own record tells, as long as that outlives what needs it; a selector that lets go shows it, so it must be at hand.
      const outlived = at - previous.at < keepMs - historyMs;
      const was = outlived && sameIndex(previous.stored.index, index) ? this.#bodies.packIndex(change.previousIndex) : undefined;
      if (was) record.previous = {index: was};
      else {
        record.previous = {body: await this.#bodies.again(previous, this.#place.newAttempt(), {type, key}, deadline)};
        change.previousImage = previous.stored.image;
      }
    }
    const object = objectItem(keys.objects(type), {key, revision, at, ...(operation === 'put' && {body})});
    const condition: {ConditionExpression: string; ExpressionAttributeValues: Item} =
      expected === 'absent'
        ? {ConditionExpression: isFree, ExpressionAttributeValues: {':dead': {BOOL: true}, ':mine': {N: String(revision)}}}
        : {ConditionExpression: isUnchanged, ExpressionAttributeValues: {':expected': {N: String(expected)}}};
    const request: TransactWriteItemsCommandInput = {
      ClientRequestToken: attempt,
      TransactItems: [
        {Put: {TableName: tables.objects, Item: object, ...condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD'}},
        {
          Put: {
            TableName: tables.log,
            Item: this.#log.item(group, record),
            ConditionExpression: slotIsEmpty,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      ],
    };
    return {request, record, stored, change};
  }

  async #send(request: TransactWriteItemsCommandInput, record: ChangeRecord, group: string, limits: Limits): Promise<Outcome> {
    const {clock} = this.#place.patience;
    // What is under way at the deadline of who waits would leave no time to find out what came of it.
    const late = new AbortController();
    const isBound = Number.isFinite(limits.answer.wall);
    const cancel = isBound ? clock.after(limits.commit.wall - clock.now(), () => late.abort()) : undefined;
    try {
      return await this.#tryToSend(request, record, group, limits, late.signal);
    } finally {
      cancel?.();
    }
  }

  async #tryToSend(
    request: TransactWriteItemsCommandInput,
    record: ChangeRecord,
    group: string,
    limits: Limits,
    late: AbortSignal,
  ): Promise<Outcome> {
    const {calls, patience} = this.#place;
    /** An earlier try may have happened. */
    let lost = false;
    for (let tries = 0; ; tries++) {
      if (patience.passed(limits.commit)) return this.#ask(record, group, limits, lost, undefined);
      try {
        await patience.once(() => {
          // After waiting for its turn as well: this is the last moment before it leaves.
          if (patience.passed(limits.commit)) throw new PastDeadline();
          return calls.transactWriteItems(request, late);
        });
        return {kind: 'done'};
      } catch (error) {
        if (error instanceof PastDeadline) continue;
        const outcome = judged(error, record.attempt);
        if (outcome?.kind === 'done') return this.#recognised(record, limits);
        if (outcome && (outcome.kind !== 'refused' || !lost)) return outcome;
        // The object may be what an earlier try of ours made it, or what others made of that.
        if (outcome) return this.#ask(record, group, limits, lost, outcome);
        const failure = failureOf(error);
        if (failure === 'lost') lost = true;
        if (failure === 'final') {
          if (!lost) throw unavailable(error);
          return this.#ask(record, group, limits, lost, undefined);
        }
      }
      await patience.pause(tries);
    }
  }

  /** Whether it happened, from its slot. An empty one is filled, and then it never will. */
  async #ask(record: ChangeRecord, group: string, limits: Limits, lost: boolean, refused: Outcome | undefined): Promise<Outcome> {
    const {patience} = this.#place;
    let found: SlotRecord | undefined;
    try {
      const asking = patience.earlier(limits.answer, patience.in(askingMs));
      found = patience.passed(limits.slot)
        ? await this.#log.get(group, record.revision, asking)
        : await this.#log.fill(group, record.revision, patience.earlier(limits.slot, asking));
    } catch (cause) {
      if (!lost) throw new StoreError('Unavailable', 'the write was not made in time', {cause});
      throw new StoreError('OutcomeUnknown', 'the database does not say whether the write was made', {cause});
    }
    // Whatever was in it may have been swept.
    if (!found && lost) throw new StoreError('OutcomeUnknown', 'nobody can say any more whether the write was made');
    if (!found) throw new StoreError('Unavailable', 'the write was not made in time');
    if (found.attempt === record.attempt) return this.#recognised(record, limits);
    if (refused) return refused;
    throw new StoreError('Unavailable', 'the write was not made in time');
  }

  /** Its slot shows that it was made; the object may not yet, and whoever reads it after our answer must see it. */
  async #recognised(record: ChangeRecord, {answer}: Limits): Promise<Outcome> {
    try {
      const {patience} = this.#place;
      await this.#log.settled([record], patience.earlier(answer, patience.in(askingMs)));
    } catch (cause) {
      throw new StoreError('OutcomeUnknown', 'the write was made, and the database does not show it yet', {cause});
    }
    return {kind: 'done'};
  }

  /** Why the object cannot be written so; nothing when a new revision helps. */
  async #refusal({type, key, expected}: Write, item: Item | undefined, revision: Revision, deadline: Deadline) {
    const current = item && objectFrom(item);
    if (expected === 'absent') {
      // A deletion that is newer than our revision: a create that follows it needs a newer one.
      if (!current?.body) return undefined;
    } else if (!current?.body) return new StoreError('NotFound', `${type} ${key} does not exist`);
    const stored = await this.#bodies.stored({...current, body: current.body}, deadline);
    return expected === 'absent'
      ? new StoreError('Exists', `${type} ${key} exists`, {current: stored})
      : new StoreError('Changed', `${type} ${key} is at revision ${current.revision}, not ${expected} (${revision} was given up)`, {
          current: stored,
        });
  }
}

const lastAttempt = ({deadline}: Write): number | undefined => (deadline === undefined ? undefined : deadline - windingUpMs);

class PastDeadline extends Error {}

/** What a cancelled transaction says of the object and of the slot; nothing when it may be tried again. */
function judged(error: unknown, attempt: string): Outcome | undefined {
  const {name, CancellationReasons: reasons} = error as {name: string; CancellationReasons?: {Code?: string; Item?: Item}[]};
  if (name !== 'TransactionCanceledException' || !reasons) return undefined;
  const [object, slot] = reasons;
  const failed = 'ConditionalCheckFailed';
  if (slot?.Code === failed) {
    const record = slot.Item && recordFrom(slot.Item);
    return record && record.attempt === attempt ? {kind: 'done'} : {kind: 'overtaken'};
  }
  return object?.Code === failed ? {kind: 'refused', current: object.Item} : undefined;
}

function sameIndex(a: Stored['index'], b: Stored['index']): boolean {
  return sameEntries(a.labels, b.labels) && sameEntries(a.fields, b.fields);
}

function sameEntries(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

function assertFits({type, key}: Write): void {
  if (key.length > maxKeyBytes || Buffer.byteLength(key) + Buffer.byteLength(type) > maxKeyBytes)
    throw new StoreError('TooLarge', `keys hold at most ${maxKeyBytes} bytes`);
}

const tooLarge = ({type, key}: Write, bytes: number): StoreError =>
  new StoreError('TooLarge', `${type} ${key} takes ${bytes} bytes, more than ${maxImageBytes}`);
