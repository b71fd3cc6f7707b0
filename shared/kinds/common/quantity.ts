/** Quantities: exact decimals with a suffix. Counted in nanos, below which the reference rounds up. Normal spelling is schema's affair. */

const nano = 1_000_000_000n;
const shape = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal: Record<string, number> = {n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18};

/** The value in nanos; undefined for what is no quantity. */
export function parseQuantity(value: unknown): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  const match = shape.exec(text);
  if (!match || !(match[2] || match[3])) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const digits = BigInt(`${whole}${fraction}` || '0');
  let numerator = digits * nano;
  let denominator = 10n ** BigInt(fraction.length);
  if (binary.includes(suffix)) numerator *= 1024n ** BigInt(binary.indexOf(suffix) + 1);
  else {
    const exponent = suffix in decimal ? decimal[suffix]! : Number(suffix.slice(1));
    // Far outside of what the reference can hold: it saturates, and a power of ten this large would only burn time.
    if (Math.abs(exponent) > 400) return exponent < 0 || digits === 0n ? 0n : (sign === '-' ? -1n : 1n) * (2n ** 63n - 1n) * nano;
    if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
    else denominator *= 10n ** BigInt(-exponent);
  }
  const magnitude = (numerator + denominator - 1n) / denominator;
  return sign === '-' ? -magnitude : magnitude;
}

/** Nanos of a quantity that was validated before; what is absent or unreadable counts as zero. */
export const nanos = (value: unknown): bigint => parseQuantity(value) ?? 0n;

export const isInteger = (value: bigint): boolean => value % nano === 0n;

/** Whole units, rounded up. */
export const wholeUnits = (value: bigint): bigint => {
  const up = value > 0n ? (value + nano - 1n) / nano : value / nano;
  return up;
};

const hasBinarySuffix = (value: unknown): boolean => typeof value === 'string' && value.endsWith('i');

/** Prints nanos in the notation of `like`: powers of 1024 where that one has them, else of 1000. */
export function printQuantity(value: bigint, like: unknown): string {
  if (value === 0n) return '0';
  const sign = value < 0n ? '-' : '';
  const magnitude = value < 0n ? -value : value;
  if (hasBinarySuffix(like) && magnitude % nano === 0n && magnitude >= 1024n * nano) {
    let units = magnitude / nano;
    let power = 0;
    while (units % 1024n === 0n && power < binary.length) {
      units /= 1024n;
      power++;
    }
    return `${sign}${units}${power ? binary[power - 1] : ''}`;
  }
  const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
  let units = magnitude;
  let step = 0;
  while (units % 1000n === 0n && step < suffixes.length - 1) {
    units /= 1000n;
    step++;
  }
  return `${sign}${units}${suffixes[step]}`;
}
