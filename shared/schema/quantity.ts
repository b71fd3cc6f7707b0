/**
 * Quantities: exact decimals with a suffix, in one of three notations. Reading and printing follow the reference to its corners: what is
 * spelled well enough is kept as it was written (`1.500`, `+5`), the rest gets the largest suffix that loses nothing.
 */

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  /** The value in billionths: nothing finer exists, smaller amounts are rounded away from zero. */
  nanos: bigint;
  format: QuantityFormat;
}

/** No two parts can take the same character: there is one way to match, or none. */
const shape = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/;
/** Whole numbers that are certainly kept as written: no zeros in front, no thousand or 1024 to divide by. */
const plain = /^[1-9]\d{0,2}[mkMG]?$/;
const plainBinary = /^[1-9]\d{0,2}[KMG]i$/;

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal: Readonly<Record<string, number>> = {n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18};
const decimalSuffix: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(decimal).map(([suffix, power]) => [power, suffix]),
);
const nano = 1_000_000_000n;
const largestBinary = (2n ** 63n - 1n) * nano;
const largestInt64 = 2n ** 63n - 1n;

/** What the reference says of text that is no quantity. */
export const quantityFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const badSuffix = "unable to parse quantity's suffix";
const badNumber = 'unable to parse numeric part of quantity';

interface Parts {
  negative: boolean;
  /** No digit at all: zero on the reference's quick way, refused on its exact one. */
  empty: boolean;
  /** Digits before the point, no zeros in front. */
  whole: string;
  fraction: string;
  format: QuantityFormat;
  /** Of ten, or of two for BinarySI. */
  exponent: number;
}

/** The reference would go on, and so would the sums: longer numbers are refused, no resource comes in such amounts. */
const maxLength = 1024;

/** The parts, or the words with which the reference refuses. */
function partsOf(text: string): Parts | string {
  if (text.length > maxLength) return badNumber;
  const match = text === '' ? null : shape.exec(text);
  if (!match) return quantityFormat;
  const [, sign, digits = '', fraction = '', suffix = ''] = match;
  const parts = {negative: sign === '-', whole: digits.replace(/^0+/, '') || '0', fraction, empty: !digits && !fraction};
  const power = decimal[suffix];
  if (power !== undefined) return {...parts, format: 'DecimalSI', exponent: power};
  const power1024 = binary.indexOf(suffix);
  if (power1024 > 0) return {...parts, format: 'BinarySI', exponent: 10 * power1024};
  if (!/^[eE][+-]?\d+$/.test(suffix)) return badSuffix;
  const exponent = BigInt(suffix.slice(1).replace('+', ''));
  if (exponent > largestInt64 || exponent < -largestInt64 - 1n) return badSuffix;
  return {...parts, format: 'DecimalExponent', exponent: Number(BigInt.asIntN(32, exponent))};
}

/** The normal spelling; undefined for text that is no quantity (quantityError says why). */
export function canonicalQuantity(text: string): string | undefined {
  if (text === '0' || plain.test(text) || plainBinary.test(text)) return text;
  const parts = partsOf(text);
  if (typeof parts === 'string') return undefined;
  const kept = keptAsWritten(parts);
  if (kept === undefined) return undefined;
  return kept ? text : print(parts);
}

export function quantityError(text: string): string {
  const parts = partsOf(text);
  return typeof parts === 'string' ? parts : badNumber;
}

/** The reference keeps the text of numbers that fit its quick way and look normal already. Undefined: not a number after all. */
function keptAsWritten({empty, whole, fraction, format, exponent}: Parts): boolean | undefined {
  const digits = whole + fraction;
  if (format === 'BinarySI') {
    const precision = 15 - whole.length - Math.trunc(Math.fround(Math.fround(exponent * 3) / 10)) - 1;
    if (fraction.length > 0 || precision < 0) return empty ? undefined : false;
    return (Number(whole.slice(-3)) & 7) !== 0;
  }
  const scale = exponent - fraction.length;
  if (digits.length > 18 || scale < -9) return empty ? undefined : false;
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function print(parts: Parts): string {
  if (parts.format !== 'BinarySI' && parts.exponent - parts.fraction.length > 40) return printPower(parts);
  return printQuantity(amountOf(parts));
}

/** Decimals with a large exponent, without unfolding them. */
function printPower({negative, whole, fraction, format, exponent}: Parts): string {
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const stripped = digits.replace(/0+$/, '');
  const power = exponent - fraction.length + digits.length - stripped.length;
  const rest = power % 3;
  const suffix = format === 'DecimalExponent' ? `e${power - rest}` : '';
  return `${negative ? '-' : ''}${stripped}${'0'.repeat(rest)}${suffix}`;
}

function amountOf({negative, whole, fraction, format, exponent}: Parts): Quantity {
  let numerator = BigInt(whole + fraction) * nano;
  let denominator = 10n ** BigInt(fraction.length);
  if (format === 'BinarySI') numerator <<= BigInt(exponent);
  // Beyond these bounds only the sign of the answer matters to anyone, and a power of ten this large would burn time.
  else if (exponent >= 0) numerator *= 10n ** BigInt(Math.min(exponent, 100));
  else denominator *= 10n ** BigInt(Math.min(-exponent, 20 + whole.length));
  let nanos = (numerator + denominator - 1n) / denominator;
  if (format === 'BinarySI' && nanos > largestBinary) nanos = largestBinary;
  return {nanos: negative ? -nanos : nanos, format};
}

/** Undefined for text that is no quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  const parts = partsOf(text);
  if (typeof parts === 'string' || keptAsWritten(parts) === undefined) return undefined;
  return amountOf(parts);
}

export function printQuantity({nanos, format}: Quantity): string {
  if (nanos === 0n) return '0';
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  if (format === 'BinarySI' && magnitude >= 1024n * nano && magnitude % nano === 0n) {
    let units = magnitude / nano;
    let power = 0;
    for (; units % 1024n === 0n; power++) units /= 1024n;
    return `${sign}${units}${binary[power] ?? ''}`;
  }
  let units = magnitude;
  let exponent = -9;
  for (; units % 1000n === 0n; exponent += 3) units /= 1000n;
  if (format === 'DecimalExponent') return exponent === 0 ? `${sign}${units}` : `${sign}${units}e${exponent}`;
  return `${sign}${units}${decimalSuffix[exponent] ?? ''}`;
}

const parsed = (text: string): Quantity => {
  const quantity = parseQuantity(text);
  if (!quantity) throw new RangeError(`not a quantity: ${text}`);
  return quantity;
};

/** Negative, zero or positive. Both must be quantities. */
export function compareQuantity(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [parsed(a).nanos, parsed(b).nanos];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The sum, in the notation of `a` unless that is zero. */
export function addQuantity(a: string, b: string): string {
  const [left, right] = [parsed(a), parsed(b)];
  return printQuantity({nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format});
}

export function subtractQuantity(a: string, b: string): string {
  const [left, right] = [parsed(a), parsed(b)];
  return printQuantity({nanos: left.nanos - right.nanos, format: left.nanos === 0n ? right.format : left.format});
}

/** Rounded away from zero to a multiple of one thousandth, as limits and requests are kept. */
export function roundToMilli(text: string): string {
  // Nothing finer than a thousandth is printed without one of these.
  if (!/[nu.eE]/.test(text)) return text;
  const {nanos, format} = parsed(text);
  const milli = nano / 1000n;
  if (nanos % milli === 0n) return text;
  const away = nanos < 0n ? nanos / milli - 1n : nanos / milli + 1n;
  return printQuantity({nanos: away * milli, format});
}

/** As close as a double comes. */
export const quantityToNumber = (text: string): number => {
  const {nanos} = parsed(text);
  return nanos % nano === 0n ? Number(nanos / nano) : Number(nanos) / 1e9;
};

/** Whole units, rounded away from zero (what the reference calls Value). */
export function quantityUnits(text: string): bigint {
  const {nanos} = parsed(text);
  const rest = nanos % nano;
  return nanos / nano + (rest > 0n ? 1n : rest < 0n ? -1n : 0n);
}
