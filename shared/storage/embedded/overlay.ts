/**
 * How the state at an older revision differs from a newer one: for each key that changed since, what it was. A chunked list asks
 * for the same revision again and again, so overlays are kept for a while and extended by what happened since they were made.
 */

import type {Revision} from '../contract.ts';
import {sortKey, type Version, type View} from './backing.ts';

export interface Difference {
  sortKey: string;
  key: string;
  /** The version at the older revision; undefined when the key was absent. */
  was: Version | undefined;
  liveNow: boolean;
}

/** A version that is being committed, and what it replaces. */
export interface UnderWay {
  type: string;
  version: Version;
  current: Version | undefined;
}

/** Also puts back what a view shows of a commit that is not published yet. `older` goes before: it tells of an earlier moment. */
export function withoutUnderWay(type: string, older: readonly Difference[], underWay: readonly UnderWay[]): readonly Difference[] {
  const byKey = new Map(older.map((difference) => [difference.sortKey, {...difference}]));
  for (const {type: changed, version, current} of underWay) {
    if (changed !== type) continue;
    const {key} = version.stored;
    const liveNow = version.operation !== 'delete';
    const difference = byKey.get(sortKey(key));
    if (difference) difference.liveNow = liveNow;
    else byKey.set(sortKey(key), {sortKey: sortKey(key), key, was: current, liveNow});
  }
  return [...byKey.values()].sort(bySortKey);
}

const bySortKey = (a: Difference, b: Difference): number => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0);

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
    let differs = false;
    for (const version of view.history(overlay.through, head)) {
      const {key} = version.stored;
      const liveNow = version.operation !== 'delete';
      const difference = overlay.byKey.get(key);
      if (difference?.liveNow === liveNow) continue;
      differs = true;
      // Only the first change after `at` replaced what was there at `at`. Never changed in place: a scan may be reading it.
      if (difference) overlay.byKey.set(key, {...difference, liveNow});
      else {
        const was = version.previousRevision === 0 ? undefined : view.version(version.previousRevision);
        overlay.byKey.set(key, {sortKey: sortKey(key), key, was, liveNow});
      }
    }
    overlay.through = head;
    if (differs) overlay.sorted = [...overlay.byKey.values()].sort(bySortKey);
  }

  dropBelow(compactedThrough: Revision): void {
    for (const [id, overlay] of this.#kept) if (overlay.at < compactedThrough) this.#kept.delete(id);
  }
}
