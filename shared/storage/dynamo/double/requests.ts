/** What requests ask for, checked as DynamoDB checks them before it does anything: one write, however it was sent, and what an item takes. */

import type {AttributeValue, TransactWriteItem} from '@aws-sdk/client-dynamodb';
import {type Item, invalid} from './errors.ts';
import {
  Arguments,
  attributeOf,
  type Condition,
  parseCondition,
  parseProjection,
  parseUpdate,
  projected,
  type Update,
  updated,
} from './expressions.ts';
import {type Entry, maxItemBytes, type Table} from './table.ts';
import {itemBytes} from './values.ts';

export interface Names {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Record<string, AttributeValue> | undefined;
}

/** A put, update, delete or check of one item, ready to be judged and made. */
export interface Action {
  table: Table;
  entry: Entry;
  condition: Condition | undefined;
  given: Arguments;
  /** Undefined: the item goes; the item itself: it stays. */
  make(old: Item | undefined): Item | undefined;
  onlyChecks: boolean;
  returnsOld: boolean;
}

interface Asked extends Names {
  ConditionExpression?: string | undefined;
  ReturnValuesOnConditionCheckFailure?: string | undefined;
}

export type Find = (name: string | undefined) => Table;

export function putOf(request: Asked & {TableName: string | undefined; Item: Item | undefined}, find: Find): Action {
  const table = find(request.TableName);
  const item = request.Item!;
  const bytes = itemBytes(item);
  if (bytes > maxItemBytes) throw invalid('Item size has exceeded the maximum allowed size');
  const copy = {...item};
  return action(request, table, table.of(item), () => copy);
}

export function deleteOf(request: Asked & {TableName: string | undefined; Key: Item | undefined}, find: Find): Action {
  const table = find(request.TableName);
  return action(request, table, table.at(request.Key), () => undefined);
}

export function checkOf(request: Asked & {TableName: string | undefined; Key: Item | undefined}, find: Find): Action {
  const table = find(request.TableName);
  if (!request.ConditionExpression) throw invalid('ConditionExpression is required');
  return {...action(request, table, table.at(request.Key), (old) => old), onlyChecks: true};
}

export function updateOf(
  request: Asked & {TableName: string | undefined; Key: Item | undefined; UpdateExpression?: string | undefined},
  find: Find,
): Action {
  const table = find(request.TableName);
  const key = request.Key!;
  const entry = table.at(key);
  const update: Update = request.UpdateExpression ? parseUpdate(request.UpdateExpression) : {set: [], remove: [], add: [], delete: []};
  for (const {path} of [...update.set, ...update.add, ...update.delete, ...update.remove.map((path) => ({path}))])
    if (path[0] === table.hashName || path[0] === table.rangeName)
      throw invalid(`One or more parameter values were invalid: Cannot update attribute ${path[0]}. This attribute is part of the key`);
  const made = (old: Item | undefined): Item => {
    const item = updated(update, old ?? key, asked.given);
    if (itemBytes(item) > maxItemBytes) throw invalid('Item size to update has exceeded the maximum allowed size');
    return item;
  };
  // What an update refers to is looked up when it is made; that it is all given is known before.
  const asked = action(request, table, entry, made, update);
  return asked;
}

function action(request: Asked, table: Table, entry: Entry, make: Action['make'], update?: Update): Action {
  const {ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure} = request;
  const given = new Arguments(ExpressionAttributeNames, ExpressionAttributeValues);
  const condition = ConditionExpression ? parseCondition(ConditionExpression) : undefined;
  if (update) given.see(update);
  if (condition) given.see(condition);
  given.assertUsed();
  return {table, entry, condition, given, make, onlyChecks: false, returnsOld: ReturnValuesOnConditionCheckFailure === 'ALL_OLD'};
}

export function transactionAction({Put, Update: update, Delete, ConditionCheck}: TransactWriteItem, find: Find): Action {
  const kinds = [Put, update, Delete, ConditionCheck].filter((kind) => kind !== undefined);
  if (kinds.length !== 1) throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
  if (Put) return putOf(Put as Parameters<typeof putOf>[0], find);
  if (update) return updateOf(update as Parameters<typeof updateOf>[0], find);
  if (Delete) return deleteOf(Delete as Parameters<typeof deleteOf>[0], find);
  return checkOf(ConditionCheck as Parameters<typeof checkOf>[0], find);
}

/** What of an item is answered. */
export function projection(text: string | undefined, given: Arguments): (item: Item) => Item {
  if (!text) return (item) => ({...item});
  const paths = parseProjection(text);
  for (const path of paths) attributeOf(path, given);
  return (item) => projected(paths, item, given);
}

/** The part of a partition that a query's key condition names. */
export interface KeyRange {
  hash: string;
  matches: Condition | undefined;
}

/** @throws ValidationException when it is not `hash = :value`, and at most one condition of the sort key beside it */
export function keyRange(text: string | undefined, table: Table, given: Arguments): KeyRange {
  if (!text) throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.');
  const parsed = parseCondition(text);
  given.see(parsed);
  const parts = parsed.kind === 'and' ? [parsed.left, parsed.right] : [parsed];
  let hash: string | undefined;
  let matches: Condition | undefined;
  for (const part of parts) {
    const name = attributeNamed(part, given);
    if (name === table.hashName && part.kind === 'compare' && part.operator === '=' && part.right.kind === 'value' && hash === undefined) {
      const value = given.value(part.right.name);
      if (value.S === undefined)
        throw invalid('One or more parameter values were invalid: Condition parameter type does not match schema type');
      hash = value.S;
    } else if (name !== undefined && name === table.rangeName && !matches && isRangeCondition(part)) matches = part;
    else throw invalid('Query key condition not supported');
  }
  if (hash === undefined) throw invalid(`Query condition missed key schema element: ${table.hashName}`);
  return {hash, matches};
}

function attributeNamed(condition: Condition, given: Arguments): string | undefined {
  if (condition.kind === 'compare' && condition.left.kind === 'path') return attributeOf(condition.left.path, given);
  if (condition.kind === 'between' && condition.of.kind === 'path') return attributeOf(condition.of.path, given);
  return condition.kind === 'call' ? attributeOf(condition.path, given) : undefined;
}

const isRangeCondition = (condition: Condition): boolean =>
  condition.kind === 'between' ||
  (condition.kind === 'compare' && condition.operator !== '<>') ||
  (condition.kind === 'call' && condition.name === 'begins_with');
