/** Attribute values: their sizes as DynamoDB counts them, their order, their equality. */

import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import {type Item, invalid} from './errors.ts';

export const typeOf = (value: AttributeValue): string => {
  for (const type in value) if ((value as unknown as Record<string, unknown>)[type] !== undefined) return type;
  throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
};

/** Numbers of more than 15 digits are beyond this double; real ones have 38. */
export function numberOf(text: string | undefined): number {
  const number = Number(text);
  if (text === undefined || text.trim() === '' || !Number.isFinite(number))
    throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) throw invalid(`${text} has more digits than this double counts`);
  return number;
}

/** One for its kind, a byte for two digits. */
const numberBytes = (text: string): number => 1 + Math.ceil(text.replace(/^-|\.|^0+|0+$/g, '').length / 2) + (text[0] === '-' ? 1 : 0);
const listOverheadBytes = 3;

export function valueBytes(value: AttributeValue): number {
  if (value.B !== undefined) return value.B.length;
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.SS) return value.SS.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (value.NS) return value.NS.reduce((sum, text) => sum + numberBytes(text), 0);
  if (value.BS) return value.BS.reduce((sum, bytes) => sum + bytes.length, 0);
  if (value.L) return listOverheadBytes + value.L.reduce((sum, entry) => sum + 1 + valueBytes(entry), 0);
  return (
    listOverheadBytes +
    Object.entries(value.M ?? {}).reduce((sum, [name, entry]) => sum + Buffer.byteLength(name) + 1 + valueBytes(entry), 0)
  );
}

export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name]!);
  return bytes;
}

const isAscii = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
};

/** Strings are ordered by their UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (isAscii(a) && isAscii(b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Undefined: values of different types, or of types without an order. */
export function compare(a: AttributeValue, b: AttributeValue): number | undefined {
  if (a.S !== undefined && b.S !== undefined) return compareText(a.S, b.S);
  if (a.N !== undefined && b.N !== undefined) return numberOf(a.N) - numberOf(b.N);
  if (a.B !== undefined && b.B !== undefined) return Buffer.compare(a.B, b.B);
  return undefined;
}

export function same(a: AttributeValue, b: AttributeValue): boolean {
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  if (type === 'S' || type === 'N' || type === 'B') return compare(a, b) === 0;
  if (type === 'BOOL') return a.BOOL === b.BOOL;
  if (type === 'NULL') return true;
  if (a.L && b.L) return a.L.length === b.L.length && a.L.every((entry, n) => same(entry, b.L![n]!));
  if (a.M && b.M) {
    const names = Object.keys(a.M);
    return names.length === Object.keys(b.M).length && names.every((name) => b.M![name] !== undefined && same(a.M![name]!, b.M![name]!));
  }
  const [left, right] = [membersOf(a), membersOf(b)];
  return left.length === right.length && left.every((member) => right.some((other) => same(member, other)));
}

/** The members of a set, as values. */
export const membersOf = (value: AttributeValue): AttributeValue[] =>
  value.SS?.map((S) => ({S})) ?? value.NS?.map((N) => ({N})) ?? value.BS?.map((B) => ({B})) ?? [];

export function setOf(members: readonly AttributeValue[]): AttributeValue {
  const first = members[0]!;
  if (first.S !== undefined) return {SS: members.map(({S}) => S!)};
  return first.N !== undefined ? {NS: members.map(({N}) => N!)} : {BS: members.map(({B}) => B!)};
}
