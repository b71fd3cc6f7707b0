/**
 * What objects were when this process last read or wrote them, bounded in bytes: who replaces an object mostly has just read it, and
 * its record tells what it replaced. Only ever used together with the revision that is expected, so nothing here can be stale.
 */

import type {Revision, Stored} from '../contract.ts';
import type {Blob} from './items.ts';

export interface Known {
  stored: Stored;
  at: number;
  /** Where its body lies, if not in the item. */
  blob?: Blob | undefined;
}

/** What an entry takes beside its image, roughly. */
const entryBytes = 400;

export class KnownObjects {
  readonly #maxBytes: number;
  readonly #byId = new Map<string, Known>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(type: string, key: string, revision: Revision): Known | undefined {
    const known = this.#byId.get(`${type}\0${key}`);
    return known?.stored.revision === revision ? known : undefined;
  }

  add(type: string, known: Known): void {
    const id = `${type}\0${known.stored.key}`;
    const before = this.#byId.get(id);
    if (before) {
      if (before.stored.revision > known.stored.revision) return;
      this.#remove(id, before);
    }
    this.#byId.set(id, known);
    this.#bytes += known.stored.image.length + entryBytes;
    // Oldest first; the newest stays however large it is, because it is about to be replaced.
    for (const [oldest, entry] of this.#byId) {
      if (this.#bytes <= this.#maxBytes || this.#byId.size === 1) break;
      this.#remove(oldest, entry);
    }
  }

  #remove(id: string, {stored}: Known): void {
    this.#byId.delete(id);
    this.#bytes -= stored.image.length + entryBytes;
  }
}
