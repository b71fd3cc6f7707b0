/** What every part of the engine works with: the calls, the tables, the names, the patience; and reading many items at once. */

import {StoreError} from '../contract.ts';
import type {Transform} from './body.ts';
import type {DynamoCalls} from './calls.ts';
import type {Item} from './items.ts';
import type {Keys} from './keys.ts';
import type {Deadline, Patience} from './retry.ts';
import type {Sequence} from './sequencer.ts';
import type {Tables} from './tables.ts';

export interface Place {
  calls: DynamoCalls;
  tables: Tables;
  keys: Keys;
  patience: Patience;
  transform?: Transform | undefined;
  /** A name that nobody else makes. At most 36 characters: it is a client token as well. */
  newAttempt(): string;
  /** History that is served. */
  historyMs: number;
  /** How long records, fillers and tombstones live: longer than anybody who began before them could sleep. */
  keepMs: number;
}

/** Reads are abandoned then. Far below a day, because of what may have been swept meanwhile (the model's listStopsAtDeadline). */
export const readDeadlineMs = 20_000;
export const listDeadlineMs = 5 * 60_000;

/** A log that has not been closed for so long hands out no revisions before it is: half of what its records are kept. */
export const staleMsOf = ({keepMs}: Place): number => keepMs / 2;

/** Records that are not closed may have expired: nobody can tell a hole from what is gone. No writer of them is left by then. */
export const isDoubtful = ({keepMs, patience}: Place, {last, closed, closedAt}: Sequence): boolean =>
  closed < last && patience.clock.now() - closedAt > (keepMs * 7) / 8;

const batchItems = 100;
export const idOf = ({pk, sk}: Item): string => `${pk!.S}\0${sk!.S ?? sk!.N}`;

/** Those that exist, by `idOf`. Consistent, item by item. */
export async function getAll(
  {calls, patience}: Place,
  table: string,
  keys: readonly Item[],
  deadline: Deadline,
  attributes?: readonly string[],
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const names = attributes && ['pk', 'sk', ...attributes];
  const projection = names && {
    ProjectionExpression: names.map((_, n) => `#n${n}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, n) => [`#n${n}`, name])),
  };
  const one = async (batch: readonly Item[]): Promise<void> => {
    let wanted: Item[] = [...batch];
    for (let tries = 0; wanted.length > 0; tries++) {
      if (tries > 0) await patience.pause(tries);
      const request = {RequestItems: {[table]: {Keys: wanted, ConsistentRead: true, ...projection}}};
      const {Responses, UnprocessedKeys} = await patience.repeat(deadline, () => calls.batchGetItem(request));
      for (const item of Responses?.[table] ?? []) found.set(idOf(item), item);
      wanted = UnprocessedKeys?.[table]?.Keys ?? [];
      if (wanted.length > 0 && patience.passed(deadline)) throw new StoreError('Unavailable', 'the database answers no more for now');
    }
  };
  const batches: Promise<void>[] = [];
  for (let at = 0; at < keys.length; at += batchItems) batches.push(one(keys.slice(at, at + batchItems)));
  await Promise.all(batches);
  return found;
}
