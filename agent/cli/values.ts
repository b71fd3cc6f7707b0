/** Texts of flags as typed values, refused in the words of the reference's own parser. Durations become milliseconds. */
import {durationNanos} from '../../shared/schema/duration.ts';
import type {Flag} from './flags.ts';

export type Value = string | number | boolean | string[] | Map<string, string>;

const trues = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falses = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const largestInt32 = 2 ** 31 - 1;

/** @throws Error with the reason, as Go's flag package gives it */
export function readValue(flag: Flag, text: string): Value {
  const {type} = flag;
  if (type === 'bool') return bool(text);
  if (type.startsWith('version')) return text;
  if (type === 'int32' || type === 'int' || type === 'uint' || type === 'level') return integer(type, text);
  if (type === 'duration') return duration(text);
  if (type.startsWith('map')) return map(flag, text);
  if (type.startsWith('list') || flag.repeatable) return text === '' ? [] : text.split(',');
  return text;
}

function bool(text: string): boolean {
  if (trues.includes(text)) return true;
  if (falses.includes(text)) return false;
  throw new Error(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function integer(type: string, text: string): number {
  const parser = type === 'uint' ? 'ParseUint' : 'ParseInt';
  if (!/^[+-]?\d+$/.test(text) || (type === 'uint' && text.startsWith('-')))
    throw new Error(`strconv.${parser}: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value) || (type === 'int32' && (value > largestInt32 || value < -largestInt32 - 1)))
    throw new Error(`strconv.${parser}: parsing ${JSON.stringify(text)}: value out of range`);
  return value;
}

function duration(text: string): number {
  const nanos = durationNanos(text);
  if (nanos === undefined) throw new Error(`time: invalid duration ${JSON.stringify(text)}`);
  return Number(nanos) / 1e6;
}

/** `a=b,c=d`; thresholds are `a<b`. */
function map({name, type}: Flag, text: string): Map<string, string> {
  const result = new Map<string, string>();
  const separator = /^eviction-(hard|soft)$/.test(name) ? '<' : '=';
  for (const part of text.split(',').filter(Boolean)) {
    const at = part.indexOf(separator);
    if (at < 0) throw new Error(`malformed pair, expect string=${type === 'map<bool>' ? 'bool' : 'string'}`);
    const value = part.slice(at + 1).trim();
    if (type === 'map<bool>' && ![...trues, ...falses].includes(value))
      throw new Error(
        `invalid value of ${part.slice(0, at)}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
      );
    result.set(part.slice(0, at).trim(), value);
  }
  return result;
}
