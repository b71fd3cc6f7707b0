/** Types whose JSON is their own: times, quantities, numbers that may be strings, raw documents. */
import type {Json} from '../object.ts';
import {canonicalQuantity, quantityFormat} from './quantity.ts';
import {type SpecialKind, type SpecialType, type StructType, typeByRef} from './types.ts';

export interface SpecialContext {
  /** The value has the wrong JSON type; `goType` is what Go wanted there. */
  refuse(goType: string, withNumber?: boolean): Error;
  /** The value's own words, without a path: what Go's UnmarshalJSON returns. */
  fail(message: string): Error;
  struct(value: Json, type: StructType): Json;
}

export function zeroOfSpecial(kind: SpecialKind): Json {
  switch (kind) {
    case 'quantity':
      return '0';
    case 'intOrString':
      return 0;
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

export function normalizeSpecial(given: Json, type: SpecialType, context: SpecialContext): Json {
  switch (type.kind) {
    case 'time':
      if (typeof given !== 'string') throw context.refuse('string');
      return parseTime(given, timeLayout, context);
    case 'microTime':
      if (typeof given !== 'string') throw context.refuse('string');
      return parseTime(given, microTimeLayout, context);
    case 'duration':
      if (typeof given !== 'string') throw context.refuse('string');
      return normalizeDuration(given, context);
    case 'quantity': {
      const canonical =
        typeof given === 'string'
          ? canonicalQuantity(given.trim())
          : typeof given === 'number'
            ? canonicalQuantity(String(given))
            : undefined;
      if (canonical === undefined) throw context.fail(quantityFormat);
      return canonical;
    }
    case 'intOrString':
      if (typeof given === 'string') return given;
      if (typeof given !== 'number') throw context.refuse('int32');
      if (!Number.isInteger(given) || given < -2147483648 || given > 2147483647) throw context.refuse('int32', true);
      return given;
    case 'schemaOrBool':
      if (typeof given === 'boolean') return given;
      return context.struct(given, schemaType());
    case 'schemaOrArray':
      if (Array.isArray(given)) return given.map((item) => context.struct(item, schemaType()));
      return context.struct(given, schemaType());
    case 'schemaOrStringArray':
      if (Array.isArray(given)) return given;
      return context.struct(given, schemaType());
    default:
      return given;
  }
}

const schemaType = (): StructType => typeByRef('apiextensions/v1.JSONSchemaProps') as StructType;

const timeLayout = '2006-01-02T15:04:05Z07:00';
const microTimeLayout = '2006-01-02T15:04:05.000000Z07:00';
const layoutParts = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05'];

/** Already in normal form: by far the most common. */
const normalTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const anyTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string, layout: string, context: SpecialContext): Json {
  if (layout === timeLayout && normalTime.test(text)) return text;
  const match = anyTime.exec(text);
  if (!match) throw context.fail(parseFailure(text, layout));
  const [, , month, day, hour, minute, second, fraction] = match;
  const range = (name: string) => context.fail(`parsing time ${JSON.stringify(text)}: ${name} out of range`);
  if (+month! < 1 || +month! > 12) throw range('month');
  if (+hour! > 23) throw range('hour');
  if (+minute! > 59) throw range('minute');
  if (+second! > 59) throw range('second');
  const days = new Date(Date.UTC(+match[1]!, +month!, 0)).getUTCDate();
  if (+day! < 1 || +day! > days) throw range('day');
  if (layout === microTimeLayout && fraction === undefined)
    throw context.fail(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(match[8])} as ".000000"`,
    );
  const iso = `${text.slice(0, 19)}${match[8]}`;
  const seconds = `${new Date(Date.parse(iso)).toISOString().slice(0, 19)}`;
  if (layout === timeLayout) return seconds === '0001-01-01T00:00:00' ? null : `${seconds}Z`;
  return `${seconds}.${(fraction ?? '').padEnd(6, '0').slice(0, 6)}Z`;
}

/** Where Go's parser gets stuck: the first part of the layout that the text does not have. */
function parseFailure(text: string, layout: string): string {
  let rest = text;
  for (const part of layoutParts) {
    const isNumber = /^\d/.test(part);
    const fits = isNumber ? new RegExp(`^\\d{${part.length}}`).test(rest) : rest.startsWith(part);
    if (!fits)
      return `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`;
    rest = rest.slice(part.length);
  }
  const next = layout === microTimeLayout ? '.000000' : 'Z07:00';
  return `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(next)}`;
}

const unitNanos: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: 10n ** 9n,
  m: 60n * 10n ** 9n,
  h: 3600n * 10n ** 9n,
};

/** Nanoseconds of a Go duration; undefined for what is none. */
export function durationNanos(text: string): bigint | undefined {
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(text);
  if (!match) return text === '0' || text === '+0' || text === '-0' ? 0n : undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
    const scale = unitNanos[unit!]!;
    nanos += BigInt(whole || '0') * scale + (fraction ? (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length) : 0n);
  }
  return match[1] === '-' ? -nanos : nanos;
}

function normalizeDuration(text: string, context: SpecialContext): string {
  const nanos = durationNanos(text);
  if (nanos === undefined) {
    if (text === '') throw context.fail('time: invalid duration ""');
    const unitMissing = /^[+-]?[\d.]+$/.test(text);
    throw context.fail(`time: ${unitMissing ? 'missing unit in' : 'invalid'} duration ${JSON.stringify(text)}`);
  }
  return printDuration(nanos);
}

/** As Go's Duration.String. */
export function printDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const value = nanos < 0n ? -nanos : nanos;
  const decimals = (amount: bigint, unit: bigint, name: string) => {
    const fraction = (amount % unit)
      .toString()
      .padStart(unit.toString().length - 1, '0')
      .replace(/0+$/, '');
    return `${amount / unit}${fraction && `.${fraction}`}${name}`;
  };
  if (value < 1000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return sign + decimals(value, 1000n, 'µs');
  if (value < 10n ** 9n) return sign + decimals(value, 1_000_000n, 'ms');
  const hours = value / unitNanos['h']!;
  const minutes = (value % unitNanos['h']!) / unitNanos['m']!;
  const seconds = decimals(value % unitNanos['m']!, 10n ** 9n, 's');
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : sign + seconds;
}
