/**
 * Looks for what other processes wrote: one BatchGet for all groups with active subscribers, soon after something happened, rarely at
 * rest. Own commits need no look. What is found is told by ./feed.ts.
 */

import type {Feed} from './feed.ts';
import {getAll, idOf, type Place, readDeadlineMs} from './place.ts';
import type {Sequence, Sequencer} from './sequencer.ts';

export interface PollIntervals {
  /** After activity... */
  busyMs: number;
  /** ...doubling up to this. The price of an hour at rest: 3,600 s / restMs read units per group. */
  restMs: number;
}

export class Poll {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #intervals: PollIntervals;
  readonly #feeds: () => Iterable<Feed>;
  readonly #heard: (feed: Feed, sequence: Sequence) => Promise<void>;
  #intervalMs: number;
  #cancel: (() => void) | undefined;
  #looking = false;
  #closed = false;

  /** `heard`: what to do with a group's state. */
  constructor(
    place: Place,
    sequencer: Sequencer,
    intervals: PollIntervals,
    feeds: () => Iterable<Feed>,
    heard: (feed: Feed, sequence: Sequence) => Promise<void>,
  ) {
    this.#place = place;
    this.#sequencer = sequencer;
    this.#intervals = intervals;
    this.#feeds = feeds;
    this.#heard = heard;
    this.#intervalMs = intervals.busyMs;
  }

  /** Something happened: more may follow. */
  wake(): void {
    this.#intervalMs = this.#intervals.busyMs;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #schedule(): void {
    if (this.#closed || this.#looking || this.#cancel || ![...this.#feeds()].some((feed) => feed.active)) return;
    this.#cancel = this.#place.patience.clock.after(this.#intervalMs, () => {
      this.#cancel = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const feeds = [...this.#feeds()].filter((feed) => feed.active);
    let moved = false;
    try {
      const keys = feeds.map((feed) => this.#sequencer.key(feed.group));
      const {patience, tables} = this.#place;
      const found = await getAll(this.#place, tables.objects, keys, patience.in(readDeadlineMs));
      for (const [n, feed] of feeds.entries()) {
        const sequence = this.#sequencer.from(found.get(idOf(keys[n]!)));
        if (sequence.last > (feed.through ?? 0)) moved = true;
        // Not awaited: who waits for a slow writer of one group must not keep the others from what is theirs.
        this.#heard(feed, sequence).catch(() => {});
      }
    } catch {
      // The next look may succeed; subscribers lose nothing meanwhile.
    }
    this.#looking = false;
    this.#intervalMs = moved ? this.#intervals.busyMs : Math.min(this.#intervals.restMs, this.#intervalMs * 2);
    this.#schedule();
  }
}
