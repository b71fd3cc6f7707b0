/**
 * How the state at an older revision differs from a newer one: for each key that changed since, what it was. A chunked list asks
 * for the same revision again and again, so overlays are kept for a while and extended by what happened since they were made.
 */

import type {Revision} from '../contract.ts';
import {sortKey, type Version, type View} from './backing.ts';

export interface Difference {
  sortKey: string;
  key: string;
  /** The version at the older revision; undefined when the key was absent then. */
  then: Version | undefined;
  liveNow: boolean;
}

/** Chunked lists in progress at a time, roughly. */
const keptOverlays = 32;

interface Overlay {
  at: Revision;
  through: Revision;
  byKey: Map<string, Difference>;
  sorted: readonly Difference[];
}

export class Overlays {
  readonly #kept = new Map<string, Overlay>();

  /** Differences of `type` at `at` from what `view`, taken at `head`, shows; in key order. The array is not changed later. */
  differences(type: string, view: View, at: Revision, head: Revision): readonly Difference[] {
    const id = `${type}\0${at}`;
    const overlay = this.#kept.get(id) ?? {at, through: at, byKey: new Map<string, Difference>(), sorted: []};
    this.#kept.delete(id);
    this.#kept.set(id, overlay);
    if (this.#kept.size > keptOverlays) this.#kept.delete(this.#kept.keys().next().value!);
    this.#extend(overlay, view, head);
    return overlay.sorted;
  }

  #extend(overlay: Overlay, view: View, head: Revision): void {
    if (overlay.through >= head) return;
    const known = overlay.byKey.size;
    for (const version of view.history(overlay.through, head)) {
      const {key} = version.stored;
      const liveNow = version.operation !== 'delete';
      const difference = overlay.byKey.get(key);
      // Only the first change after `at` replaced what was there at `at`.
      if (difference) difference.liveNow = liveNow;
      else {
        const then = version.previousRevision === 0 ? undefined : view.version(version.previousRevision);
        overlay.byKey.set(key, {sortKey: sortKey(key), key, then, liveNow});
      }
    }
    overlay.through = head;
    if (overlay.byKey.size > known)
      overlay.sorted = [...overlay.byKey.values()].sort((a, b) => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0));
  }

  dropBelow(compactedThrough: Revision): void {
    for (const [id, overlay] of this.#kept) if (overlay.at < compactedThrough) this.#kept.delete(id);
  }
}
