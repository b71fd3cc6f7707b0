/** The normal spelling of quantities: no fraction, the largest suffix that loses nothing, the notation (binary, decimal, exponent) kept. */

const shape = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
/** A whole number below 1000 with a decimal suffix is normal already: by far the most common spelling. */
const normal = /^-?[1-9]\d{0,2}(m|k|M|G)?$/;
const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const nano = 10n ** 9n;
const largest = 2n ** 63n - 1n;

/** What the reference says of text that is no quantity. */
export const quantityFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Undefined for text that is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  if (normal.test(text) || text === '0') return text;
  const match = shape.exec(text);
  if (!match || !(match[2] || match[3])) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const isBinary = binary.indexOf(suffix) > 0;
  const isExponent = /^[eE]/.test(suffix) && suffix.length > 1;
  const value = nanosOf(BigInt(`${whole}${fraction}`), fraction.length, suffix, isBinary, isExponent);
  if (value === 0n) return '0';
  const minus = sign === '-' ? '-' : '';
  if (isBinary && value >= 1024n * nano) return minus + printBinary(value);
  return minus + (isExponent ? printExponent(value) : printDecimal(value));
}

/** Nanos, rounded up; saturated where the reference saturates. */
function nanosOf(digits: bigint, decimals: number, suffix: string, isBinary: boolean, isExponent: boolean): bigint {
  let numerator = digits * nano;
  let denominator = 10n ** BigInt(decimals);
  if (isBinary) numerator <<= BigInt(10 * binary.indexOf(suffix));
  else {
    const exponent = isExponent ? Number(suffix.slice(1)) : 3 * (decimal.indexOf(suffix) - 3);
    if (exponent > 40) return digits === 0n ? 0n : largest * nano;
    if (exponent < -400) return digits === 0n ? 0n : 1n;
    if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
    else denominator *= 10n ** BigInt(-exponent);
  }
  return (numerator + denominator - 1n) / denominator;
}

function printBinary(value: bigint): string {
  // Fractions of a unit have no binary suffix: they are rounded up.
  let units = (value + nano - 1n) / nano;
  let power = 0;
  while (units % 1024n === 0n && power < binary.length - 1) {
    units /= 1024n;
    power++;
  }
  return `${units}${binary[power]}`;
}

function printDecimal(value: bigint): string {
  let units = value;
  let power = 0;
  while (units % 1000n === 0n && power < decimal.length - 1) {
    units /= 1000n;
    power++;
  }
  return `${units}${decimal[power]}`;
}

function printExponent(value: bigint): string {
  let units = value;
  let exponent = -9;
  while (units % 1000n === 0n) {
    units /= 1000n;
    exponent += 3;
  }
  return exponent === 0 ? String(units) : `${units}e${exponent}`;
}
