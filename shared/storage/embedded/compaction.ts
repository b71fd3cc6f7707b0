/**
 * Forgetting history: first `compactedThrough` moves, so that nobody reads below it any more, then a sweep removes what cannot be
 * asked for, a chunk per commit. A version goes when its successor is compacted; a deletion goes when it is compacted itself.
 */

import type {Revision} from '../contract.ts';
import type {Backing, Commit} from './backing.ts';

/** Changes handled in one turn of the event loop, or forgotten in one commit, by whoever walks history. */
export const historyChunk = 500;

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Compaction {
  readonly #backing: Backing;
  /** Queues a commit of its own among the writers' batches. */
  readonly #commitAlone: (prepare: () => Commit | undefined) => Promise<void>;
  /** False when the store is closed, or cannot be written. */
  readonly #mayGoOn: () => boolean;
  #sweeping: Promise<void> | undefined;

  constructor(backing: Backing, commitAlone: (prepare: () => Commit | undefined) => Promise<void>, mayGoOn: () => boolean) {
    this.#backing = backing;
    this.#commitAlone = commitAlone;
    this.#mayGoOn = mayGoOn;
  }

  /** Never beyond the head, never back. */
  async through(through: Revision): Promise<void> {
    await this.#commitAlone(() => {
      const {state} = this.#backing;
      const compactedThrough = Math.min(through, state.head);
      return compactedThrough <= state.compactedThrough ? undefined : {versions: [], forget: [], state: {...state, compactedThrough}};
    });
    await this.sweep();
  }

  /** The last revision before the first kept change that is not older than `before`. */
  async lastBefore(before: number): Promise<Revision> {
    const {head, compactedThrough} = this.#backing.state;
    let last = head;
    for (const type of this.#backing.types().keys()) {
      const view = this.#backing.view(type, true);
      try {
        let turn = 0;
        for (const version of view.history(compactedThrough, last)) {
          // The first change that is young enough keeps itself and everything after it, whatever their clocks said.
          if (version.time >= before) {
            last = version.stored.revision - 1;
            break;
          }
          if (++turn % historyChunk === 0) await nextTurn();
        }
      } finally {
        view.release();
      }
    }
    return last;
  }

  /** Forgets what compaction made unreachable, a chunk per commit so that writers wait for one chunk at most. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    while (this.#mayGoOn()) {
      const {sweptThrough, compactedThrough} = this.#backing.state;
      if (sweptThrough >= compactedThrough) return;
      for (const type of this.#backing.types().keys()) await this.#sweepType(type, sweptThrough, compactedThrough);
      if (!this.#mayGoOn()) return;
      await this.#commitAlone(() => ({versions: [], forget: [], state: {...this.#backing.state, sweptThrough: compactedThrough}}));
    }
  }

  async #sweepType(type: string, after: Revision, through: Revision): Promise<void> {
    let from = after;
    while (this.#mayGoOn()) {
      const forget: {type: string; revision: Revision}[] = [];
      let walked = 0;
      for (const {stored, operation, previousRevision} of this.#backing.view(type, false).history(from, through)) {
        if (previousRevision > 0) forget.push({type, revision: previousRevision});
        if (operation === 'delete') forget.push({type, revision: stored.revision});
        from = stored.revision;
        if (++walked === historyChunk) break;
      }
      if (forget.length > 0) await this.#commitAlone(() => ({versions: [], forget, state: this.#backing.state}));
      if (walked < historyChunk) return;
      await nextTurn();
    }
  }
}
