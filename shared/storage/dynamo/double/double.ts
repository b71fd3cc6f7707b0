/**
 * DynamoDB in this process, as it is documented and as no emulator shows it: transactions become visible in parts to whoever does not
 * read by transaction, they conflict, they hold items while they are made; reads that need not be consistent are not; partitions have
 * a limit; client tokens are forgotten. Time and chance are arguments, so that a seed repeats everything.
 *
 * honest() has the same rules and none of the trouble, for tests of what stands above. What gets lost on the way is ./faults.ts.
 */

import type {WriteRequest} from '@aws-sdk/client-dynamodb';
import type {DynamoCalls, InputOf, OutputOf, TableCalls} from '../calls.ts';
import {type Metered, Partitions, readUnits, writeUnits} from './capacity.ts';
import {cancelled, conditionFailed, DynamoError, type Item, invalid, throttled, throughputExceeded, transactionConflict} from './errors.ts';
import {Arguments, holds, parseCondition} from './expressions.ts';
import {type Action, deleteOf, keyRange, projection, putOf, transactionAction, updateOf} from './requests.ts';
import type {Steps} from './steps.ts';
import {type Entry, Table} from './table.ts';
import {Tokens} from './tokens.ts';
import {itemBytes, numberOf} from './values.ts';

export interface DoubleOptions {
  /** The database's clock: throttling, tokens, TTL. */
  now?: () => number;
  /** With both of these calls take time within the database, and others happen in the middle of them. */
  steps?: Steps;
  random?: () => number;
  /** Whether partitions have a limit. */
  throttles?: boolean;
  /** What shares a limit; the items of a partition key otherwise. DynamoDB splits them under heat where sort keys allow it. */
  partitionOf?: (table: string, hash: string, range: string | number | undefined) => string;
  /** A query's page ends before it exceeds this; DynamoDB's own limit is 1 MB. */
  pageBytes?: () => number;
}

/** A write that happened, in the order in which they happened. */
export interface Written {
  table: string;
  keys: Item;
  old: Item | undefined;
  item: Item | undefined;
  /** By TTL, not by anybody. */
  expired: boolean;
}

const maxPageBytes = 1024 * 1024;
const maxBatchGetBytes = 16 * 1024 * 1024;
const maxTransactionBytes = 4 * 1024 * 1024;
/** For how long a read that need not be consistent may be behind. */
const staleMs = 1_000;
const ok = {$metadata: {httpStatusCode: 200}};

interface Spent {
  readUnits: number;
  writeUnits: number;
}

export class DynamoDouble implements DynamoCalls, TableCalls {
  /** Filled when it is there: each call with what it cost. */
  metered: Metered[] | undefined;
  /** Calls under way within the database: time must not leap meanwhile, it does not take that long. */
  underWay = 0;
  readonly #tables = new Map<string, Table>();
  readonly #tokens: Tokens;
  readonly #partitions: Partitions | undefined;
  readonly #now: () => number;
  readonly #steps: Steps | undefined;
  readonly #random: () => number;
  readonly #pageBytes: () => number;
  readonly #partitionOf: NonNullable<DoubleOptions['partitionOf']>;
  readonly #listeners: ((written: Written) => void)[] = [];

  constructor(options: DoubleOptions = {}) {
    const {now = Date.now, steps, random = () => 0.5, throttles = false, pageBytes = () => maxPageBytes} = options;
    this.#partitionOf = options.partitionOf ?? ((table, hash) => `${table}\0${hash}`);
    this.#now = now;
    this.#steps = steps;
    this.#random = random;
    this.#pageBytes = pageBytes;
    this.#tokens = new Tokens(now);
    this.#partitions = throttles ? new Partitions(now) : undefined;
  }

  /** Told of every write, at the moment at which it shows. */
  onWrite(listener: (written: Written) => void): void {
    this.#listeners.push(listener);
  }

  async createTable(input: InputOf<'createTable'>): Promise<OutputOf<'createTable'>> {
    if (this.#tables.has(input.TableName!)) throw new DynamoError('ResourceInUseException', `Table already exists: ${input.TableName}`);
    this.#tables.set(input.TableName!, new Table(input));
    return ok;
  }

  async updateTimeToLive({TableName, TimeToLiveSpecification}: InputOf<'updateTimeToLive'>): Promise<OutputOf<'updateTimeToLive'>> {
    this.#table(TableName).ttlName = TimeToLiveSpecification?.Enabled ? TimeToLiveSpecification.AttributeName : undefined;
    return ok;
  }

  getItem(input: InputOf<'getItem'>, signal?: AbortSignal): Promise<OutputOf<'getItem'>> {
    return this.#metered('getItem', signal, async (spent) => {
      const table = this.#table(input.TableName);
      const entry = table.at(input.Key);
      const given = new Arguments(input.ExpressionAttributeNames, undefined);
      const project = projection(input.ProjectionExpression, given);
      given.assertUsed();
      const consistent = input.ConsistentRead ?? false;
      this.#takeRead(table, entry, readUnits(entry.bytes, {consistent}), spent);
      const item = this.#seen(entry, consistent);
      return {...ok, ...(item && {Item: project(item)}), ...capacity(input, [table], spent)};
    });
  }

  batchGetItem(input: InputOf<'batchGetItem'>, signal?: AbortSignal): Promise<OutputOf<'batchGetItem'>> {
    return this.#metered('batchGetItem', signal, async (spent) => {
      const wanted = Object.entries(input.RequestItems ?? {}).flatMap(([name, asked]) => {
        const table = this.#table(name);
        const given = new Arguments(asked.ExpressionAttributeNames, undefined);
        const project = projection(asked.ProjectionExpression, given);
        given.assertUsed();
        return (asked.Keys ?? []).map((key) => ({name, table, key, entry: table.at(key), asked, project}));
      });
      if (wanted.length === 0) throw invalid('The requestItems parameter is required for BatchGetItem');
      if (wanted.length > 100) throw invalid('Too many items requested for the BatchGetItem call');
      if (new Set(wanted.map(({entry}) => entry.id)).size < wanted.length) throw invalid('Provided list of item keys contains duplicates');
      const Responses: Record<string, Item[]> = {};
      const UnprocessedKeys: NonNullable<OutputOf<'batchGetItem'>['UnprocessedKeys']> = {};
      for (const {name} of wanted) Responses[name] ??= [];
      let bytes = 0;
      let left = 0;
      // Each by itself, in any order.
      for (const {name, table, key, entry, asked, project} of this.#shuffled(wanted)) {
        await this.#step();
        const consistent = asked.ConsistentRead ?? false;
        const units = readUnits(entry.bytes, {consistent});
        const fits = bytes + entry.bytes <= maxBatchGetBytes && !this.#leaves();
        if (!fits || !this.#takes(table, entry, 'reads', units)) {
          const {Keys: _, ...rest} = asked;
          UnprocessedKeys[name] ??= {...rest, Keys: []};
          UnprocessedKeys[name].Keys!.push(key);
          left++;
          continue;
        }
        spent.readUnits += units;
        bytes += entry.bytes;
        const item = this.#seen(entry, consistent);
        if (item) Responses[name]!.push(project(item));
      }
      if (left === wanted.length) throw throughputExceeded();
      return {...ok, Responses, UnprocessedKeys, ...capacities(input, wanted, spent)};
    });
  }

  query(input: InputOf<'query'>, signal?: AbortSignal): Promise<OutputOf<'query'>> {
    return this.#metered('query', signal, async (spent) => {
      const table = this.#table(input.TableName);
      const given = new Arguments(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
      const range = keyRange(input.KeyConditionExpression, table, given);
      const filter = input.FilterExpression ? parseCondition(input.FilterExpression) : undefined;
      if (filter) given.see(filter);
      const project = projection(input.ProjectionExpression, given);
      given.assertUsed();
      const forward = input.ScanIndexForward ?? true;
      const consistent = input.ConsistentRead ?? false;
      if (this.#partitions && !this.#partitions.has(this.#partitionOf(table.name, range.hash, undefined), 'reads')) throw throttled();
      let after = input.ExclusiveStartKey && table.rangeOf(input.ExclusiveStartKey);
      if (input.ExclusiveStartKey) table.at(input.ExclusiveStartKey);
      const {Limit = Number.POSITIVE_INFINITY} = input;
      const pageBytes = Math.min(maxPageBytes, this.#pageBytes());
      const Items: Item[] = [];
      let bytes = 0;
      let ScannedCount = 0;
      let LastEvaluatedKey: Item | undefined;
      let last: Item | undefined;
      for (;;) {
        const entry = table.next(range.hash, after, forward);
        if (!entry) break;
        after = entry.range;
        const item = this.#seen(entry, consistent);
        if (!item || (range.matches && !holds(range.matches, item, given))) continue;
        if (ScannedCount >= Limit || (ScannedCount > 0 && bytes + entry.bytes > pageBytes)) {
          LastEvaluatedKey = table.keyOf(last!);
          break;
        }
        ScannedCount++;
        bytes += entry.bytes;
        last = item;
        if (!filter || holds(filter, item, given)) Items.push(item);
        // The page is no snapshot.
        if (this.#steps && this.#random() < 0.2) await this.#step();
      }
      if (!LastEvaluatedKey && last && ScannedCount >= Limit) LastEvaluatedKey = table.keyOf(last);
      const units = readUnits(bytes, {consistent});
      this.#partitions?.takes(this.#partitionOf(table.name, range.hash, undefined), 'reads', units);
      spent.readUnits += units;
      return {
        ...ok,
        ...(input.Select !== 'COUNT' && {Items: Items.map(project)}),
        Count: Items.length,
        ScannedCount,
        ...(LastEvaluatedKey && {LastEvaluatedKey}),
        ...capacity(input, [table], spent),
      };
    });
  }

  putItem(input: InputOf<'putItem'>, signal?: AbortSignal): Promise<OutputOf<'putItem'>> {
    return this.#metered('putItem', signal, async (spent) => {
      const {old} = this.#write(putOf(input as Parameters<typeof putOf>[0], this.#table), spent);
      const {ReturnValues = 'NONE'} = input;
      return {
        ...ok,
        ...(ReturnValues === 'ALL_OLD' && old && {Attributes: {...old}}),
        ...capacity(input, [this.#table(input.TableName)], spent),
      };
    });
  }

  deleteItem(input: InputOf<'deleteItem'>, signal?: AbortSignal): Promise<OutputOf<'deleteItem'>> {
    return this.#metered('deleteItem', signal, async (spent) => {
      const {old} = this.#write(deleteOf(input as Parameters<typeof deleteOf>[0], this.#table), spent);
      const {ReturnValues = 'NONE'} = input;
      return {
        ...ok,
        ...(ReturnValues === 'ALL_OLD' && old && {Attributes: {...old}}),
        ...capacity(input, [this.#table(input.TableName)], spent),
      };
    });
  }

  updateItem(input: InputOf<'updateItem'>, signal?: AbortSignal): Promise<OutputOf<'updateItem'>> {
    return this.#metered('updateItem', signal, async (spent) => {
      const {old, item} = this.#write(updateOf(input as Parameters<typeof updateOf>[0], this.#table), spent);
      const {ReturnValues = 'NONE'} = input;
      if (ReturnValues.startsWith('UPDATED')) throw invalid(`this double does not return ${ReturnValues}`);
      const Attributes = ReturnValues === 'ALL_NEW' ? item : ReturnValues === 'ALL_OLD' ? old : undefined;
      return {...ok, ...(Attributes && {Attributes: {...Attributes}}), ...capacity(input, [this.#table(input.TableName)], spent)};
    });
  }

  batchWriteItem(input: InputOf<'batchWriteItem'>, signal?: AbortSignal): Promise<OutputOf<'batchWriteItem'>> {
    return this.#metered('batchWriteItem', signal, async (spent) => {
      const wanted = Object.entries(input.RequestItems ?? {}).flatMap(([TableName, requests]) =>
        requests.map((request) => {
          const {PutRequest, DeleteRequest} = request;
          const action = PutRequest
            ? putOf({TableName, Item: PutRequest.Item as Item}, this.#table)
            : deleteOf({TableName, Key: DeleteRequest?.Key as Item}, this.#table);
          return {TableName, request, action, table: action.table};
        }),
      );
      if (wanted.length === 0) throw invalid('The batch write request list for a table cannot be null or empty');
      if (wanted.length > 25) throw invalid('Too many items requested for the BatchWriteItem call');
      if (new Set(wanted.map(({action}) => action.entry.id)).size < wanted.length)
        throw invalid('Provided list of item keys contains duplicates');
      const UnprocessedItems: Record<string, WriteRequest[]> = {};
      let left = 0;
      for (const {TableName, request, action} of this.#shuffled(wanted)) {
        await this.#step();
        const units = writeUnitsOf(action, action.make(action.entry.item));
        if (action.entry.lockedBy || this.#leaves() || !this.#takes(action.table, action.entry, 'writes', units)) {
          UnprocessedItems[TableName] ??= [];
          UnprocessedItems[TableName].push(request);
          left++;
        } else {
          spent.writeUnits += units;
          this.#apply(action, action.make(action.entry.item));
        }
      }
      if (left === wanted.length) throw throughputExceeded();
      return {...ok, UnprocessedItems, ...capacities(input, wanted, spent)};
    });
  }

  transactGetItems(input: InputOf<'transactGetItems'>, signal?: AbortSignal): Promise<OutputOf<'transactGetItems'>> {
    return this.#metered('transactGetItems', signal, async (spent) => {
      const wanted = (input.TransactItems ?? []).map(({Get}) => {
        const table = this.#table(Get?.TableName);
        const given = new Arguments(Get?.ExpressionAttributeNames, undefined);
        const project = projection(Get?.ProjectionExpression, given);
        given.assertUsed();
        return {table, entry: table.at(Get?.Key), project};
      });
      if (wanted.length === 0 || wanted.length > 100) throw invalid('Member must have length less than or equal to 100');
      if (wanted.some(({entry}) => entry.lockedBy)) throw cancelled(wanted.map(({entry}) => (entry.lockedBy ? conflictReason : fine)));
      for (const {table, entry} of wanted)
        this.#takeRead(table, entry, readUnits(entry.bytes, {consistent: true, transactional: true}), spent);
      return {
        ...ok,
        Responses: wanted.map(({entry, project}) => (entry.item ? {Item: project(entry.item)} : {})),
        ...capacities(input, wanted, spent),
      };
    });
  }

  transactWriteItems(input: InputOf<'transactWriteItems'>, signal?: AbortSignal): Promise<OutputOf<'transactWriteItems'>> {
    return this.#metered('transactWriteItems', signal, async (spent) => {
      const actions = (input.TransactItems ?? []).map((item) => transactionAction(item, this.#table));
      if (actions.length === 0 || actions.length > 100) throw invalid('Member must have length less than or equal to 100');
      if (new Set(actions.map(({entry}) => entry.id)).size < actions.length)
        throw invalid('Transaction request cannot include multiple operations on one item');
      const sizes = (input.TransactItems ?? []).map(({Put}) => (Put ? itemBytes(Put.Item as Item) : 0));
      if (sizes.reduce((sum, bytes) => sum + bytes, 0) > maxTransactionBytes)
        throw invalid('Collection size of items in a transaction has exceeded the maximum allowed size');
      const token = this.#tokens.begin(input);
      if (token === 'done') {
        for (const {entry} of actions) spent.readUnits += readUnits(entry.bytes, {consistent: true, transactional: true});
        return {...ok, ...capacities(input, actions, spent)};
      }
      try {
        const made = await this.#prepared(actions, spent);
        // From here on it happens, item by item.
        for (const {action, item} of this.#shuffled(made)) {
          await this.#step();
          this.#apply(action, item);
          action.entry.lockedBy = undefined;
        }
        await this.#step();
        token?.succeeded();
        return {...ok, ...capacities(input, actions, spent)};
      } finally {
        token?.ended();
      }
    });
  }

  /** Deletes what is past its time to live: each item with this chance, in no order. DynamoDB takes hours to days. */
  expire(chance = 1): void {
    for (const table of this.#tables.values()) {
      if (table.ttlName === undefined) continue;
      for (const entry of this.#shuffled([...table.entries()])) {
        const ttl = entry.item?.[table.ttlName]?.N;
        if (ttl === undefined || entry.lockedBy || numberOf(ttl) * 1000 > this.#now()) continue;
        if (chance >= 1 || this.#random() < chance) this.#put(table, entry, undefined, true);
      }
    }
  }

  /** All items of a table as they are, for who judges. */
  items(table: string): Item[] {
    return [...this.#table(table).entries()].map(({item}) => item!);
  }

  /** The items locked and what is to become of them, or the reasons why not. */
  async #prepared(actions: readonly Action[], spent: Spent): Promise<{action: Action; item: Item | undefined}[]> {
    const reasons = actions.map(() => fine as typeof fine & {Item?: Item});
    const made: {action: Action; item: Item | undefined}[] = [];
    const lock = {};
    try {
      for (const n of this.#shuffled(actions.map((_, at) => at))) {
        await this.#step();
        const action = actions[n]!;
        const {entry, table, condition, given, returnsOld} = action;
        if (entry.lockedBy) {
          reasons[n] = conflictReason;
          continue;
        }
        const old = entry.item;
        const passes = !condition || holds(condition, old ?? {}, given);
        const item = passes ? action.make(old) : old;
        const units = 2 * writeUnitsOf(action, item);
        if (!this.#takes(table, entry, 'writes', units)) {
          reasons[n] = {Code: 'ThrottlingError', Message: 'Throughput exceeds the current capacity of your table or index.'};
          continue;
        }
        spent.writeUnits += units;
        if (!passes)
          reasons[n] = {
            Code: 'ConditionalCheckFailed',
            Message: 'The conditional request failed',
            ...(returnsOld && old && {Item: {...old}}),
          };
        else {
          entry.lockedBy = lock;
          made.push({action, item});
        }
      }
      if (made.length < actions.length) throw cancelled(reasons);
      return made;
    } catch (error) {
      for (const {entry} of actions) if (entry.lockedBy === lock) entry.lockedBy = undefined;
      throw error;
    }
  }

  /** A write of one item, in one step. */
  #write(action: Action, spent: Spent): {old: Item | undefined; item: Item | undefined} {
    const {entry, table, condition, given, returnsOld} = action;
    const old = entry.item;
    if (entry.lockedBy) throw transactionConflict();
    const passes = !condition || holds(condition, old ?? {}, given);
    const item = passes ? action.make(old) : old;
    const units = writeUnitsOf(action, item);
    if (!this.#takes(table, entry, 'writes', units)) throw throttled();
    spent.writeUnits += units;
    if (!passes) throw conditionFailed(returnsOld && old ? {...old} : undefined);
    this.#apply(action, item);
    return {old, item};
  }

  #apply({table, entry, onlyChecks}: Action, item: Item | undefined): void {
    if (!onlyChecks && (item || entry.item)) this.#put(table, entry, item, false);
  }

  #put(table: Table, entry: Entry, item: Item | undefined, expired: boolean): void {
    const old = entry.item;
    table.put(entry, item, this.#now());
    for (const listener of this.#listeners) listener({table: table.name, keys: table.keyOf((item ?? old)!), old, item, expired});
  }

  #seen(entry: Entry, consistent: boolean): Item | undefined {
    if (consistent || !this.#steps || this.#now() - entry.changedAt > staleMs) return entry.item;
    return this.#random() < 0.5 ? entry.before : entry.item;
  }

  #takeRead(table: Table, entry: Entry, units: number, spent: Spent): void {
    if (!this.#takes(table, entry, 'reads', units)) throw throttled();
    spent.readUnits += units;
  }

  #takes(table: Table, entry: Entry, kind: 'reads' | 'writes', units: number): boolean {
    return this.#partitions?.takes(this.#partitionOf(table.name, entry.hash, entry.range), kind, units) ?? true;
  }

  /** A batch may leave anything to be asked for again. */
  #leaves(): boolean {
    return this.#steps !== undefined && this.#random() < 0.02;
  }

  /** Others may go on here. */
  #step(): Promise<void> | undefined {
    if (!this.#steps) return undefined;
    const slowness = this.#random();
    if (slowness < 0.5) return undefined;
    return this.#steps.sleep(slowness < 0.99 ? this.#random() * 4 : this.#random() * 3_000);
  }

  #shuffled<T>(list: readonly T[]): readonly T[] {
    if (!this.#steps || list.length < 2) return list;
    const shuffled = [...list];
    for (let at = shuffled.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random() * (at + 1));
      [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
    }
    return shuffled;
  }

  async #metered<T>(verb: string, signal: AbortSignal | undefined, call: (spent: Spent) => Promise<T>): Promise<T> {
    const spent = {readUnits: 0, writeUnits: 0};
    if (signal?.aborted) throw Object.assign(new Error('Request aborted'), {name: 'AbortError'});
    this.underWay++;
    try {
      const answer = await call(spent);
      this.metered?.push({verb, ...spent});
      return answer;
    } catch (error) {
      this.metered?.push({verb, ...spent, error: (error as Error).name});
      throw error;
    } finally {
      this.underWay--;
    }
  }

  readonly #table = (name: string | undefined): Table => {
    const table = this.#tables.get(name ?? '');
    if (!table) throw new DynamoError('ResourceNotFoundException', 'Requested resource not found');
    return table;
  };
}

/** For tests of what stands above: nothing takes time, nothing fails that should not, nothing is refused for its rate. */
export const honest = (options: Pick<DoubleOptions, 'now' | 'pageBytes'> = {}): DynamoDouble => new DynamoDouble(options);

const fine = {Code: 'None'} as {Code: string; Message?: string};
const conflictReason = {Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item'};

/** The larger of before and after; a check costs as a write would. */
function writeUnitsOf({entry, onlyChecks}: Action, item: Item | undefined): number {
  return writeUnits(Math.max(entry.bytes, item && !onlyChecks ? itemBytes(item) : 0));
}

const capacity = (input: {ReturnConsumedCapacity?: string | undefined}, tables: readonly Table[], spent: Spent) =>
  input.ReturnConsumedCapacity && input.ReturnConsumedCapacity !== 'NONE'
    ? {ConsumedCapacity: {TableName: tables[0]!.name, CapacityUnits: spent.readUnits + spent.writeUnits}}
    : {};

/** All of it under the first table: who meters by table asks for one at a time. */
const capacities = (input: {ReturnConsumedCapacity?: string | undefined}, asked: readonly {table: Table}[], spent: Spent) => {
  const {ConsumedCapacity} = capacity(
    input,
    asked.map(({table}) => table),
    spent,
  );
  return ConsumedCapacity ? {ConsumedCapacity: [ConsumedCapacity]} : {};
};
