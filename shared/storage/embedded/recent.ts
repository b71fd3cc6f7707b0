/**
 * Decoded versions by revision, bounded in bytes. Versions never change and a revision is used once, so nothing here can be stale.
 * Two generations: what is asked for moves to the young one, and when that is half of the bound the old one is dropped whole.
 */

import type {Revision} from '../contract.ts';
import type {Version} from './backing.ts';

/** What an entry takes beside its image, roughly: objects, strings, map slots. */
const entryBytes = 400;

export class Recent {
  readonly #generationBytes: number;
  #young = new Map<Revision, Version>();
  #old = new Map<Revision, Version>();
  #youngBytes = 0;

  constructor(bytes: number) {
    this.#generationBytes = bytes / 2;
  }

  get(revision: Revision): Version | undefined {
    const version = this.#young.get(revision);
    if (version) return version;
    const aged = this.#old.get(revision);
    if (aged) this.add(aged);
    return aged;
  }

  add(version: Version): void {
    const bytes = version.stored.image.length + entryBytes;
    // One huge image must not push everything else out.
    if (bytes > this.#generationBytes / 8) return;
    if (this.#youngBytes + bytes > this.#generationBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(version.stored.revision, version);
    this.#youngBytes += bytes;
  }

  delete(revision: Revision): void {
    this.#young.delete(revision);
    this.#old.delete(revision);
  }
}
