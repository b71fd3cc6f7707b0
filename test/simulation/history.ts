/**
 * What happened in a simulation, and whether a store that keeps its promises could have done it. Times are positions in the order
 * in which the simulation saw calls begin and end.
 */

import type {Change, Revision, Stored} from '../../shared/storage/contract.ts';
import {seededRandom} from '../../shared/storage/faults.ts';

export class BrokenPromise extends Error {}

export const broken = (promise: string, detail: unknown): never => {
  throw new BrokenPromise(`${promise}: ${JSON.stringify(detail)}`);
};

interface Interval {
  began: number;
  /** Infinity when no answer came: it may happen at any later time. */
  ended: number;
}

export interface WriteSeen extends Interval {
  type: string;
  key: string;
  /** Names this write in its image. */
  token: string;
  outcome: {revision: Revision} | 'refused' | 'unknown' | 'not attempted';
}

/** A look at one key: by a read, or by what a refused write was told. */
export interface ReadSeen extends Interval {
  type: string;
  key: string;
  revision: Revision | 'absent';
}

export interface ListSeen extends Interval {
  type: string;
  prefix: string;
  revision: Revision;
  /** Asked for as it was at `revision`; otherwise the newest. */
  exact: boolean;
  items: readonly {key: string; revision: Revision; token: string}[];
}

export interface WatchSeen {
  type: string;
  from: Revision;
  through: Revision;
  changes: readonly Change[];
}

/** An image is its token, or its token and what is `padded` to it. */
export function tokenOf({image}: {image: Uint8Array}): string {
  const text = Buffer.from(image).toString();
  const end = text.indexOf('|');
  if (end < 0) return text;
  const token = text.slice(0, end);
  return text === padded(token, text.length) ? token : broken('an image is whole', {token, bytes: text.length});
}

/** A token with as many characters behind it as make this length, none like the other. */
export function padded(token: string, length: number): string {
  const random = seededRandom(length + token.length + Number.parseInt(token.replace(/\D/g, '') || '0', 10));
  const parts = [`${token}|`];
  for (let left = length - token.length - 1; left > 0; left -= 6) {
    const part = Math.floor(random() * 36 ** 6)
      .toString(36)
      .padStart(6, '0');
    parts.push(left < 6 ? part.slice(0, left) : part);
  }
  return parts.join('');
}

export const itemOf = (stored: Stored) => ({key: stored.key, revision: stored.revision, token: tokenOf(stored)});

export class History {
  #time = 0;
  readonly writes: WriteSeen[] = [];
  readonly reads: ReadSeen[] = [];
  readonly lists: ListSeen[] = [];
  readonly watches: WatchSeen[] = [];
  /** Every change of each type, as an undisturbed subscriber heard it. */
  readonly archive = new Map<string, Change[]>();
  /** How many writers there were: each has a number of its own. */
  writers = 0;
  /** Types with the same counter share its revisions. */
  readonly #counterOf: (type: string) => string;

  constructor(counterOf: (type: string) => string = () => '') {
    this.#counterOf = counterOf;
  }

  now(): number {
    return ++this.#time;
  }

  /** Changes that a subscriber is told of: who asks afterwards finds nothing older. */
  heard(type: string, changes: readonly Change[]): void {
    for (const {key, revision} of changes) this.reads.push({type, key, began: 0, ended: this.now(), revision});
  }

  /** @throws BrokenPromise */
  check(): void {
    this.#checkArchive();
    this.#checkWrites();
    this.#checkKeys();
    for (const list of this.lists) this.#checkList(list);
    for (const watch of this.watches) this.#checkWatch(watch);
  }

  #checkArchive(): void {
    const used = new Set<string>();
    for (const [type, changes] of this.archive) {
      let last = 0;
      const live = new Map<string, Change>();
      for (const change of changes) {
        const {key, revision, operation, previousRevision, previousIndex} = change;
        if (revision <= last) broken('revisions increase', {type, last, revision});
        const id = `${this.#counterOf(type)} ${revision}`;
        if (used.has(id)) broken('a revision names one change', {type, revision});
        used.add(id);
        last = revision;
        const before = live.get(key);
        if (previousRevision !== (before?.revision ?? 0))
          broken('a change names what it replaced', {type, key, revision, previousRevision});
        if (operation !== (before ? (operation === 'delete' ? 'delete' : 'update') : 'create'))
          broken('operations fit', {type, key, revision});
        if (JSON.stringify(previousIndex) !== JSON.stringify(before?.index)) broken('previousIndex is what was replaced', {type, revision});
        if (operation === 'delete') live.delete(key);
        else live.set(key, change);
      }
    }
  }

  #checkWrites(): void {
    const made = new Map<string, Change>();
    for (const change of [...this.archive.values()].flat()) {
      const token = tokenOf(change);
      if (made.has(token)) broken('a write happens once', {token});
      made.set(token, change);
    }
    for (const write of this.writes) {
      const change = made.get(write.token);
      if (write.outcome === 'refused' || write.outcome === 'not attempted') {
        if (change) broken('a refused write did not happen', write);
      } else if (write.outcome !== 'unknown' && change?.revision !== write.outcome.revision) {
        broken('an acknowledged write happened, at its revision', write);
      }
    }
  }

  /** Per key, linearizability: what ended before something began is not newer than it. Revisions are the order to hold it against. */
  #checkKeys(): void {
    const byKey = new Map<string, (Interval & {position: number; write: boolean})[]>();
    const absences = new Map<string, number[]>();
    const add = (id: string, entry: Interval & {position: number; write: boolean}): void => {
      const entries = byKey.get(id);
      if (entries) entries.push(entry);
      else byKey.set(id, [entry]);
    };
    const writeByToken = new Map(this.writes.map((write) => [write.token, write]));
    for (const [type, changes] of this.archive) {
      for (const change of changes) {
        const id = `${type} ${change.key}`;
        const write = writeByToken.get(tokenOf(change));
        if (!write) broken('only what was written is there', {id, revision: change.revision});
        const position = change.revision;
        add(id, {
          began: write!.began,
          ended: write!.outcome === 'unknown' ? Number.POSITIVE_INFINITY : write!.ended,
          position,
          write: true,
        });
        if (change.operation === 'delete') absences.set(id, [...(absences.get(id) ?? [0]), position]);
      }
    }
    for (const read of this.reads)
      if (read.revision !== 'absent') add(`${read.type} ${read.key}`, {...read, position: read.revision, write: false});
    for (const [id, entries] of byKey) this.#checkOrder(id, entries);
    for (const read of this.reads) {
      if (read.revision !== 'absent') continue;
      const id = `${read.type} ${read.key}`;
      const entries = byKey.get(id) ?? [];
      const floor = Math.max(0, ...entries.filter((entry) => entry.ended < read.began).map((entry) => entry.position));
      const ceiling = Math.max(0, ...entries.filter((entry) => entry.began < read.ended).map((entry) => entry.position));
      const fits = (absences.get(id) ?? [0]).some((position) => position >= floor && position <= ceiling);
      if (!fits) broken('a read that finds nothing is linearizable', {...read, floor, ceiling});
    }
  }

  #checkOrder(id: string, entries: (Interval & {position: number; write: boolean})[]): void {
    const byEnd = [...entries].sort((a, b) => a.ended - b.ended);
    const byStart = [...entries].sort((a, b) => a.began - b.began);
    const writtenFrom = new Map(entries.filter((entry) => entry.write).map((entry) => [entry.position, entry.began]));
    let next = 0;
    let floor = 0;
    for (const entry of byStart) {
      for (; next < byEnd.length && byEnd[next]!.ended < entry.began; next++) floor = Math.max(floor, byEnd[next]!.position);
      if (entry.position < floor || (entry.write && entry.position === floor))
        broken('reads and writes are linearizable', {id, floor, entry});
      const began = writtenFrom.get(entry.position);
      if (began === undefined || began > entry.ended) broken('nobody reads what is not yet written', {id, entry});
    }
  }

  #stateAt(type: string, prefix: string, revision: Revision): {key: string; revision: Revision; token: string}[] {
    const state = new Map<string, Change>();
    for (const change of this.archive.get(type) ?? []) {
      if (change.revision > revision) break;
      if (change.operation === 'delete') state.delete(change.key);
      else if (change.key.startsWith(prefix)) state.set(change.key, change);
    }
    return [...state.values()].map(itemOf).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #checkList(list: ListSeen): void {
    const {type, prefix, revision, items, exact} = list;
    if (JSON.stringify(items) !== JSON.stringify(this.#stateAt(type, prefix, revision)))
      broken('a list is the exact state at its revision', {...list, items: items.length});
    if (exact) return;
    const counter = this.#counterOf(type);
    for (const write of this.writes)
      if (
        typeof write.outcome === 'object' &&
        write.ended < list.began &&
        write.outcome.revision > revision &&
        this.#counterOf(write.type) === counter
      )
        broken('a list is not older than what was acknowledged before it', {...list, items: items.length, write});
  }

  #checkWatch({type, from, through, changes}: WatchSeen): void {
    const expected = (this.archive.get(type) ?? []).filter((change) => change.revision > from && change.revision <= through);
    const tell = (all: readonly Change[]): string =>
      JSON.stringify(
        all.map((change) => [change.operation, change.revision, tokenOf(change), change.previousRevision, change.previousIndex]),
      );
    if (tell(changes) !== tell(expected))
      broken('a watch delivers each change once and in order', {type, from, through, got: changes.length, expected: expected.length});
  }
}
