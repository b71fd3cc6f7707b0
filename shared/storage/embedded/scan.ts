/** Pages of a collection in key order, at the newest or at an exact older revision, from one held view. */

import type {Scan, ScanOptions, Stored} from '../contract.ts';
import {type Backing, sortKey, type Version, type View} from './backing.ts';
import {type Difference, type Overlays, type UnderWay, withoutUnderWay} from './overlay.ts';

/** Items handled in one turn of the event loop. */
const scanChunk = 500;
/** Keys counted one by one to tell what remains where no count is kept; beyond it, an estimate. */
const countedKeys = 2_000;
/** Continue positions whose number of remaining keys is remembered. */
const keptPositions = 1_000;

export class Scanner {
  readonly #backing: Backing;
  readonly #overlays: Overlays;
  /** What remained behind a page's last key: the next page starts there, and so knows what it leaves. */
  readonly #remaining = new Map<string, number>();

  constructor(backing: Backing, overlays: Overlays) {
    this.#backing = backing;
    this.#overlays = overlays;
  }

  /** `at` must be within what is kept. */
  async scan(type: string, options: ScanOptions, underWay: readonly UnderWay[]): Promise<Scan> {
    const {prefix, after, limit = Number.POSITIVE_INFINITY, at, filter} = options;
    const {head} = this.#backing.state;
    const revision = at ?? head;
    const view = this.#backing.view(type, limit >= scanChunk || filter !== undefined || underWay.length > 0);
    try {
      const older = revision < head ? this.#overlays.differences(type, view, revision, head) : [];
      const ahead = underWay.length > 0 && view.shows(underWay.at(-1)!.version.stored.revision);
      const differences = ahead ? withoutUnderWay(type, older, underWay) : older;
      const start = sortKey(prefix);
      const from = after === undefined ? start : sortKey(after);
      const exclusive = after !== undefined && from >= start;
      const versions = merged(view, differences, exclusive ? from : start, exclusive);
      const items: Stored[] = [];
      let walked = 0;
      let more = false;
      for (const {stored} of versions) {
        if (!stored.key.startsWith(prefix)) break;
        if (items.length >= limit) {
          more = true;
          break;
        }
        walked++;
        if (!filter || filter(stored)) items.push(stored);
        if (walked % scanChunk === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (!more) return {revision, items, more};
      const last = items.at(-1)?.key ?? after;
      const remaining = this.#remainingAfter(
        () => liveAt(view, differences, prefix),
        () => (last === undefined ? 0 : countBehind(view, differences, sortKey(last), prefix)),
        after === undefined ? undefined : `${type}\0${prefix}\0${revision}\0${after}`,
        walked,
      );
      this.#remember(`${type}\0${prefix}\0${revision}\0${last ?? ''}`, remaining);
      return {revision, items, more, remaining};
    } finally {
      view.release();
    }
  }

  #remainingAfter(total: () => number | undefined, counted: () => number, position: string | undefined, walked: number): number {
    const before = position === undefined ? total() : this.#remaining.get(position);
    // At least one: another key was seen.
    if (before !== undefined) return Math.max(1, before - walked);
    const behind = counted();
    return behind < countedKeys ? Math.max(1, behind) : Math.max(behind, Math.floor((total() ?? 0) / 2));
  }

  #remember(position: string, remaining: number): void {
    this.#remaining.set(position, remaining);
    if (this.#remaining.size > keptPositions) this.#remaining.delete(this.#remaining.keys().next().value!);
  }
}

/** What the view shows, with the differences put back. */
function* merged(view: View, differences: readonly Difference[], from: string, exclusive: boolean): IterableIterator<Version> {
  const live = view.live(from, exclusive);
  if (differences.length === 0) return yield* live;
  let position = differences.findIndex((difference) => (exclusive ? difference.sortKey > from : difference.sortKey >= from));
  if (position < 0) position = differences.length;
  for (const version of live) {
    const key = sortKey(version.stored.key);
    let replaced = false;
    for (; position < differences.length && differences[position]!.sortKey <= key; position++) {
      const {was, sortKey: changed} = differences[position]!;
      if (changed === key) replaced = true;
      if (was) yield was;
    }
    if (!replaced) yield version;
  }
  for (; position < differences.length; position++) {
    const {was} = differences[position]!;
    if (was) yield was;
  }
}

function liveAt(view: View, differences: readonly Difference[], prefix: string): number | undefined {
  let count = view.count(prefix);
  if (count === undefined) return undefined;
  for (const {key, was, liveNow} of differences) if (key.startsWith(prefix)) count += Number(was !== undefined) - Number(liveNow);
  return count;
}

function countBehind(view: View, differences: readonly Difference[], from: string, prefix: string): number {
  let count = view.countBehind(from, prefix, countedKeys);
  for (const {sortKey: changed, key, was, liveNow} of differences)
    if (changed > from && key.startsWith(prefix)) count += Number(was !== undefined) - Number(liveNow);
  return count;
}
