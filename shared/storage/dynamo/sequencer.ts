/**
 * The sequencer of a group: the item that hands out revisions, and says how far the log is closed (every slot written, every object
 * item showing) and how far it is compacted. Plain updates never conflict with each other, so it stays out of every transaction.
 */

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
}

const unchanged = 'attribute_not_exists(#mark) OR #mark < :through';

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
    return {last: number('last'), closed: number('closed'), compacted: number('compacted'), swept: number('swept')};
  }

  async read(group: string, deadline: Deadline): Promise<Sequence> {
    const request = {TableName: this.#table, Key: this.key(group), ConsistentRead: true};
    return this.from((await this.#patience.repeat(deadline, () => this.#calls.getItem(request))).Item);
  }

  /** The next revision. An answer that is lost leaves a hole behind, which whoever needs it fills. */
  async reserve(group: string, deadline: Deadline): Promise<Sequence> {
    const request = {
      TableName: this.#table,
      Key: this.key(group),
      UpdateExpression: 'ADD #last :one',
      ExpressionAttributeNames: {'#last': 'last'},
      ExpressionAttributeValues: {':one': {N: '1'}},
      ReturnValues: 'ALL_NEW' as const,
    };
    return this.from((await this.#patience.repeat(deadline, () => this.#calls.updateItem(request))).Attributes);
  }

  /** Moves a mark forward, never back. */
  async advance(group: string, mark: 'closed' | 'compacted' | 'swept', through: Revision, deadline: Deadline): Promise<void> {
    const request = {
      TableName: this.#table,
      Key: this.key(group),
      UpdateExpression: 'SET #mark = :through',
      ConditionExpression: unchanged,
      ExpressionAttributeNames: {'#mark': mark},
      ExpressionAttributeValues: {':through': {N: String(through)}},
    };
    try {
      await this.#patience.repeat(deadline, () => this.#calls.updateItem(request));
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
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
        UpdateExpression: 'SET #last = #last + :by, closed = #last + :by, compacted = #last + :by',
        ConditionExpression: 'attribute_exists(#last)',
        ExpressionAttributeNames: {'#last': 'last'},
        ExpressionAttributeValues: {':by': {N: String(by)}},
      }),
    );
  }
}
