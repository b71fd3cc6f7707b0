/**
 * Several processes over one database, in virtual time: each a store on a machine of its own. What the database was made to hold is
 * kept as the truth, as soon as it shows, because the log itself forgets.
 */

import type {Change, Index, Revision} from '../../../shared/storage/contract.ts';
import {unpack} from '../../../shared/storage/dynamo/body.ts';
import {DynamoDouble, type Written} from '../../../shared/storage/dynamo/double/double.ts';
import type {Item} from '../../../shared/storage/dynamo/double/errors.ts';
import {Machine} from '../../../shared/storage/dynamo/double/machine.ts';
import type {Steps} from '../../../shared/storage/dynamo/double/steps.ts';
import {type Body, isChange, recordFrom} from '../../../shared/storage/dynamo/items.ts';
import {epoch, groupOf, Keys} from '../../../shared/storage/dynamo/keys.ts';
import {createTables} from '../../../shared/storage/dynamo/tables.ts';
import {broken, type History} from '../history.ts';
import {Process, tables} from './process.ts';

const groups = ['pods', epoch];

/** Everything that was ever written to the log, by the time at which it showed. */
export class Truth {
  readonly #slots = new Map<string, Item>();
  readonly #chunks = new Map<string, Uint8Array>();

  note({table, keys, old, item, expired}: Written): void {
    const id = `${keys['pk']!.S} ${keys['sk']!.S ?? keys['sk']!.N}`;
    const chunk = item?.['bytes']?.B;
    if (chunk && table === tables.objects && id.includes('|c|')) this.#chunks.set(id, chunk);
    if (table !== tables.log) return;
    if (!item) {
      if (!expired) broken('records are deleted by nobody', {id});
      return;
    }
    if (old || this.#slots.has(id)) broken('a slot is written once', {id, item});
    this.#slots.set(id, item);
  }

  /** In each group, which slots were written. */
  slots(): Map<string, Set<Revision>> {
    const slots = new Map<string, Set<Revision>>();
    for (const item of this.#slots.values()) {
      const group = item['pk']!.S!.split('|')[2]!;
      const written = slots.get(group) ?? new Set();
      slots.set(group, written.add(Number(item['sk']!.N)));
    }
    return slots;
  }

  archive(history: History, types: readonly string[]): void {
    archive(history, types, this.#slots.values(), (attempt, n) => this.#chunks.get(`default|c|${attempt}|${n} c`)!);
  }
}

/** Fills a history's archive with what was written to the log. */
export function archive(
  history: History,
  types: readonly string[],
  log: Iterable<Item>,
  chunk: (attempt: string, n: number) => Uint8Array,
): void {
  const contentOf = (body: Body) => {
    if ('bytes' in body) return unpack(body.bytes);
    const {attempt, chunks} = body.blob;
    return unpack(Buffer.concat(Array.from({length: chunks}, (_, n) => chunk(attempt, n))));
  };
  for (const type of types) history.archive.set(type, []);
  for (const item of log) {
    const record = recordFrom(item);
    if (!isChange(record)) continue;
    const {key, revision, operation, previousRevision, previous, at: time} = record;
    const {image, index} = contentOf(record.body);
    const previousIndex: Index | undefined =
      previous && ('index' in previous ? unpack(previous.index).index : contentOf(previous.body).index);
    const change: Change = {key, revision, image, index, operation, previousRevision, time, ...(previousIndex && {previousIndex})};
    history.archive.get(record.type)!.push(change);
  }
  for (const changes of history.archive.values()) changes.sort((a, b) => a.revision - b.revision);
}

export class World {
  readonly double: DynamoDouble;
  readonly truth = new Truth();
  readonly processes: Process<Machine>[] = [];
  failure: unknown;
  /** For all machines, also those to come. */
  #trouble: Pick<Machine, 'rates' | 'slownessMs'> | undefined;
  readonly steps: Steps;
  readonly #random: () => number;

  constructor(steps: Steps, random: () => number, trace: ((line: string) => void) | undefined) {
    this.steps = steps;
    this.#random = random;
    const pages = random() < 0.5 ? 1 : 20;
    this.double = new DynamoDouble({
      now: () => steps.now(),
      steps,
      random,
      throttles: random() < 0.3,
      // Pages of few items, so that lists have several.
      pageBytes: () => Math.floor(random() * 1_000 * pages),
    });
    this.double.onWrite((written) => {
      trace?.(told(written, steps.now()));
      try {
        this.truth.note(written);
      } catch (error) {
        // Whoever wrote it would take it for an answer of the database.
        this.failure ??= error;
      }
    });
  }

  async open(processes: number): Promise<void> {
    await createTables(this.double, tables);
    if (this.#random() < 0.5) for (const group of groups) await this.#age(group);
    for (let n = 0; n < processes; n++) this.processes.push(new Process(this.machine(), this.#random));
  }

  /** A log with a past, and about to go on in another of its buckets. */
  async #age(group: string): Promise<void> {
    const last = {N: String(64 * Math.ceil(40 * this.#random()) - Math.floor(10 * this.#random()))};
    const pk = {S: new Keys('default').sequencer(group)};
    const closedAt = {N: String(this.steps.now())};
    await this.double.putItem({
      TableName: tables.objects,
      Item: {pk, sk: {S: 's'}, last, closed: last, compacted: last, swept: last, closedAt},
    });
  }

  machine(): Machine {
    const random = this.#random;
    const machine = new Machine({
      steps: this.steps,
      double: this.double,
      random,
      skewMs: Math.round((random() - 0.5) * 60_000),
      stopsWhenFrozen: random() < 0.5,
    });
    Object.assign(machine, this.#trouble);
    return machine;
  }

  trouble(trouble: Pick<Machine, 'rates' | 'slownessMs'>): void {
    this.#trouble = trouble;
    for (const {machine} of this.processes) Object.assign(machine, trouble);
  }

  /** Another process in the place of one that is gone. */
  replace(n: number): void {
    this.processes[n]!.crash();
    this.processes[n] = new Process(this.machine(), this.#random);
  }

  any(): Process<Machine> {
    return this.processes[Math.floor(this.#random() * this.processes.length)]!;
  }

  /** What no trouble may leave behind: slots that nobody wrote, below what a list has told and above what was given up. */
  checkLog(type: string, through: Revision): void {
    const slots = this.truth.slots().get(groupOf(type)) ?? new Set();
    const sequencer = this.double.items(tables.objects).find(({pk}) => pk!.S === `default|s|${groupOf(type)}`);
    for (let revision = Number(sequencer?.['compacted']?.N ?? 0) + 1; revision <= through; revision++)
      if (!slots.has(revision)) broken('what was listed is closed', {type, revision, through});
  }
}

/** A write on a line, bodies left out. */
function told({table, keys, item, expired}: Written, now: number): string {
  const values = Object.entries(item ?? {}).filter(([name, value]) => !(name in keys) && !value.B);
  const rest = values.map(([name, value]) => `${name}=${Object.values(value).join()}`).join(' ');
  return `${now.toFixed(0)} ${table} ${keys['pk']!.S} ${keys['sk']!.S ?? keys['sk']!.N} ${item ? rest : expired ? 'expired' : 'deleted'}`;
}
