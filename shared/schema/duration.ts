/** Durations as Go reads and prints them. */
import {quoteBytes} from './time.ts';

const unitNanos: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: 10n ** 9n,
  m: 60n * 10n ** 9n,
  h: 3600n * 10n ** 9n,
};

/** Longer ones have more digits than Go can count. */
const maxLength = 1024;

/** Nanoseconds of a Go duration; undefined for what is none. */
export function durationNanos(text: string): bigint | undefined {
  if (text.length > maxLength) return undefined;
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(text);
  if (!match) return text === '0' || text === '+0' || text === '-0' ? 0n : undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
    const scale = unitNanos[unit!]!;
    nanos += BigInt(whole || '0') * scale + (fraction ? (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length) : 0n);
  }
  const signed = match[1] === '-' ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
}

export function canonicalDuration(text: string): string | undefined {
  const nanos = durationNanos(text);
  return nanos === undefined ? undefined : printDuration(nanos);
}

export function durationFault(text: string): string {
  const unsigned = text.replace(/^[+-]/, '');
  const quoted = quoteBytes(text);
  for (let rest = unsigned; rest !== ''; ) {
    const number = /^(?:\d+(?:\.\d*)?|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) break;
    rest = rest.slice(number.length);
    const unit = /^[^.0-9]+/.exec(rest)?.[0];
    if (unit === undefined) return `time: missing unit in duration ${quoted}`;
    if (!Object.hasOwn(unitNanos, unit)) return `time: unknown unit ${quoteBytes(unit)} in duration ${quoted}`;
    rest = rest.slice(unit.length);
  }
  return `time: invalid duration ${quoted}`;
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
