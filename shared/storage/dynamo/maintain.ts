/**
 * What keeps the log short and the tables tidy, off the path of requests: closing, forgetting history, sweeping tombstones and orphaned
 * chunks. Each step can be cut off and done again; several processes may do it at once.
 */

import {isStoreError, type Revision} from '../contract.ts';
import type {Bodies} from './chunks.ts';
import type {Feed} from './feed.ts';
import {isChange} from './items.ts';
import type {Log} from './log.ts';
import {isDoubtful, type Place} from './place.ts';
import {type Deadline, isConditionFailure} from './retry.ts';
import type {Sequence, Sequencer} from './sequencer.ts';

/** Tombstones stay for longer than any writer that began before the deletion may sleep. */
export const tombstoneMs = 24 * 3600_000;
const stepRevisions = 512;
const deletionsAtOnce = 16;

export class Upkeep {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #log: Log;
  readonly #bodies: Bodies;

  constructor(place: Place, sequencer: Sequencer, log: Log, bodies: Bodies) {
    this.#place = place;
    this.#sequencer = sequencer;
    this.#log = log;
    this.#bodies = bodies;
  }

  /**
   * Moves `closed` up to `through`, which must have been handed out. `lastAt`: a time at which it was the last revision, if it is known.
   */
  async close(feed: Feed, through: Revision, deadline: Deadline, lastAt?: number): Promise<void> {
    while (feed.closed < through && !this.#place.patience.passed(deadline)) {
      const from = feed.closed;
      const to = Math.min(through, Math.max(feed.settledThrough, from + stepRevisions));
      try {
        if (feed.settledThrough < to) await feed.records(from, to);
      } catch (error) {
        // Somebody else has closed it meanwhile, and some of it is gone already.
        if (!isStoreError(error, 'Compacted')) throw error;
        const {closed} = await this.#sequencer.read(feed.group, deadline);
        if (closed <= from) throw error;
        feed.closed = Math.max(feed.closed, closed);
        continue;
      }
      if (to === through && lastAt !== undefined) await this.#sequencer.closeAll(feed.group, to, lastAt, deadline);
      else await this.#sequencer.advance(feed.group, 'closed', to, deadline);
      feed.closed = Math.max(feed.closed, to);
    }
  }

  /** After a long rest, before anything is reserved: closes the log while all of it is there, and gives up one that may not be. */
  async refresh(feed: Feed, deadline: Deadline): Promise<void> {
    const at = this.#place.patience.clock.now();
    const {last} = await this.#current(feed, deadline);
    await this.close(feed, last, deadline);
    await this.#sequencer.stamp(feed.group, at, deadline);
  }

  /** Returns how far the group is compacted now. */
  async compact(feed: Feed, through: Revision, deadline: Deadline): Promise<Revision> {
    const {last, compacted} = await this.#current(feed, deadline);
    const to = Math.min(through, last);
    if (to <= compacted) return compacted;
    await this.close(feed, to, deadline);
    if (feed.closed < to) return compacted;
    await this.#sequencer.advance(feed.group, 'compacted', to, deadline);
    return to;
  }

  /** The last revision before a time; records are in the order of their times but for the difference between writers' clocks. */
  async lastBefore(feed: Feed, before: number, deadline: Deadline): Promise<Revision> {
    const {last, compacted} = await this.#current(feed, deadline);
    // A slot that is missing was kept for longer than it is served.
    const isOld = async (revision: Revision): Promise<boolean> => ((await this.#log.get(feed.group, revision, deadline))?.at ?? 0) < before;
    if (last === compacted || !(await isOld(compacted + 1))) return compacted;
    await this.close(feed, last, deadline);
    let old = compacted + 1;
    let young = Math.min(last, feed.closed) + 1;
    while (young - old > 1) {
      const middle = Math.floor((old + young) / 2);
      if (await isOld(middle)) old = middle;
      else young = middle;
    }
    return old;
  }

  /** Removes the tombstones of deletions that are closed and a day old. Returns how many. */
  async sweepTombstones(feed: Feed, deadline: Deadline): Promise<number> {
    const {patience} = this.#place;
    const {closed, swept} = await this.#sequencer.read(feed.group, deadline);
    const before = patience.clock.now() - tombstoneMs;
    let removed = 0;
    for (let from = swept; from < closed && !patience.passed(deadline); ) {
      const to = Math.min(closed, from + stepRevisions);
      const records = [...(await this.#log.present(feed.group, from, to, deadline)).values()];
      const young = records.find(({at}) => at >= before);
      const deletions = records
        .filter(isChange)
        .filter(({operation, revision}) => operation === 'delete' && !(young && revision >= young.revision));
      for (let at = 0; at < deletions.length; at += deletionsAtOnce)
        await Promise.all(
          deletions
            .slice(at, at + deletionsAtOnce)
            .map((record) => this.removeTombstone(record.type, record.key, record.revision, deadline)),
        );
      removed += deletions.length;
      const through = young ? young.revision - 1 : to;
      if (through > from) await this.#sequencer.advance(feed.group, 'swept', through, deadline);
      if (young) break;
      from = to;
    }
    return removed;
  }

  async removeTombstone(type: string, key: string, revision: Revision, deadline: Deadline): Promise<void> {
    const {calls, keys, tables, patience} = this.#place;
    try {
      await patience.repeat(deadline, () =>
        calls.deleteItem({
          TableName: tables.objects,
          Key: {pk: {S: keys.objects(type)}, sk: {S: key}},
          ConditionExpression: 'dead = :dead AND rev = :revision',
          ExpressionAttributeValues: {':dead': {BOOL: true}, ':revision': {N: String(revision)}},
        }),
      );
    } catch (error) {
      // It is no tombstone any more, or none of this deletion.
      if (!isConditionFailure(error)) throw error;
    }
  }

  /** The state of a group; a log of which something may have expired before it was closed is given up first. */
  async #current(feed: Feed, deadline: Deadline): Promise<Sequence> {
    let sequence = await this.#sequencer.read(feed.group, deadline);
    if (isDoubtful(this.#place, sequence)) {
      await this.#sequencer.forget(feed.group, sequence, this.#place.patience.clock.now(), deadline);
      sequence = await this.#sequencer.read(feed.group, deadline);
    }
    feed.closed = Math.max(feed.closed, sequence.closed);
    return sequence;
  }

  sweepChunks(deadline: Deadline): Promise<number> {
    return this.#bodies.sweep(deadline);
  }
}
