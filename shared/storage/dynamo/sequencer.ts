/**
 * The sequencer of a group: the item that hands out revisions, and says how far the log is closed (every slot written, every object
 * item showing) and how far it is compacted. Plain updates never conflict with each other, so it stays out of every transaction.
 */

import type {UpdateItemCommandInput} from '@aws-sdk/client-dynamodb';
import type {Revision} from '../contract.ts';
import type {DynamoCalls} from './calls.ts';
import type {Item} from './items.ts';
import type {Keys} from './keys.ts';
import {type Deadline, isConditionFailure, type Patience} from './retry.ts';

export interface Sequence {
  /** The last revision that was handed out. */
  last: Revision;
  closed: Revision;
  compacted: Revision;
  /** Tombstones of deletions up to here are gone. */
  swept: Revision;
  /** Every revision that was handed out before this time (ms) is closed. */
  closedAt: number;
}

const isForward = 'attribute_not_exists(#mark) OR #mark < :through';
/** Records are kept from their reservation on, so those that are not closed are there, for as long as nothing is reserved in an old log. */
const wasClosedLately = 'attribute_not_exists(#last) OR closedAt > :stale';

export class Sequencer {
  readonly #calls: DynamoCalls;
  readonly #table: string;
  readonly #keys: Keys;
  readonly #patience: Patience;

  constructor(calls: DynamoCalls, table: string, keys: Keys, patience: Patience) {
    this.#calls = calls;
    this.#table = table;
    this.#keys = keys;
    this.#patience = patience;
  }

  key(group: string): Item {
    return {pk: {S: this.#keys.sequencer(group)}, sk: {S: 's'}};
  }

  from(item: Item | undefined): Sequence {
    const number = (name: string): number => Number(item?.[name]?.N ?? 0);
    return {
      last: number('last'),
      closed: number('closed'),
      compacted: number('compacted'),
      swept: number('swept'),
      closedAt: number('closedAt'),
    };
  }

  async read(group: string, deadline: Deadline): Promise<Sequence> {
    const request = {TableName: this.#table, Key: this.key(group), ConsistentRead: true};
    return this.from((await this.#patience.repeat(deadline, () => this.#calls.getItem(request))).Item);
  }

  /**
   * The next revision. An answer that is lost leaves a hole behind, which whoever needs it fills. Undefined: what was handed out more
   * than `staleMs` ago may not be closed yet, which comes first.
   */
  async reserve(group: string, staleMs: number, deadline: Deadline): Promise<Sequence | undefined> {
    const request = (now: number) => ({
      TableName: this.#table,
      Key: this.key(group),
      UpdateExpression: 'SET closedAt = if_not_exists(closedAt, :now) ADD #last :one',
      ConditionExpression: wasClosedLately,
      ExpressionAttributeNames: {'#last': 'last'},
      ExpressionAttributeValues: {':one': {N: '1'}, ':now': {N: String(now)}, ':stale': {N: String(now - staleMs)}},
      ReturnValues: 'ALL_NEW' as const,
    });
    try {
      const answer = await this.#patience.repeat(deadline, () => this.#calls.updateItem(request(this.#patience.clock.now())));
      return this.from(answer.Attributes);
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  }

  /** Everything that was handed out before `at` is closed. */
  async stamp(group: string, at: number, deadline: Deadline): Promise<void> {
    await this.#conditionally(deadline, {
      Key: this.key(group),
      UpdateExpression: 'SET closedAt = :at',
      ConditionExpression: 'closedAt < :at',
      ExpressionAttributeValues: {':at': {N: String(at)}},
    });
  }

  /** Gives up the log as it was read: what is missing in it may have been written and expired. `at`: now. */
  async forget(group: string, {last, closedAt}: Sequence, at: number, deadline: Deadline): Promise<void> {
    await this.#conditionally(deadline, {
      Key: this.key(group),
      UpdateExpression: 'SET closed = :last, compacted = :last, closedAt = :at',
      ConditionExpression: '#last = :last AND closedAt = :before',
      ExpressionAttributeNames: {'#last': 'last'},
      ExpressionAttributeValues: {':last': {N: String(last)}, ':at': {N: String(at)}, ':before': {N: String(closedAt)}},
    });
  }

  /** Moves a mark forward, never back. */
  async advance(group: string, mark: 'closed' | 'compacted' | 'swept', through: Revision, deadline: Deadline): Promise<void> {
    await this.#conditionally(deadline, {
      Key: this.key(group),
      UpdateExpression: 'SET #mark = :through',
      ConditionExpression: isForward,
      ExpressionAttributeNames: {'#mark': mark},
      ExpressionAttributeValues: {':through': {N: String(through)}},
    });
  }

  /** Closes through what was the last revision at the time `at`, or later. */
  async closeAll(group: string, through: Revision, at: number, deadline: Deadline): Promise<void> {
    await this.#conditionally(deadline, {
      Key: this.key(group),
      UpdateExpression: 'SET #mark = :through, closedAt = :at',
      // An earlier time than the one that is there says less, and is true as well.
      ConditionExpression: isForward,
      ExpressionAttributeNames: {'#mark': 'closed'},
      ExpressionAttributeValues: {':through': {N: String(through)}, ':at': {N: String(at)}},
    });
  }

  /**
   * After the tables were restored to a point in time: beyond what any client may have seen, with nothing kept of what was before.
   * For an operator, while nobody writes.
   */
  async jump(group: string, by: number, deadline: Deadline): Promise<void> {
    await this.#patience.repeat(deadline, () =>
      this.#calls.updateItem({
        TableName: this.#table,
        Key: this.key(group),
        UpdateExpression: 'SET #last = #last + :by, closed = #last + :by, compacted = #last + :by, closedAt = :now',
        ConditionExpression: 'attribute_exists(#last)',
        ExpressionAttributeNames: {'#last': 'last'},
        ExpressionAttributeValues: {':by': {N: String(by)}, ':now': {N: String(this.#patience.clock.now())}},
      }),
    );
  }

  /** Somebody may have been there before. */
  async #conditionally(deadline: Deadline, request: Omit<UpdateItemCommandInput, 'TableName'>): Promise<void> {
    try {
      await this.#patience.repeat(deadline, () => this.#calls.updateItem({TableName: this.#table, ...request}));
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }
}
