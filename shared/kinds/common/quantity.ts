/** Quantities as validation counts them: in nanos, whatever stands in the field. What a quantity is, and how it is spelled, is schema's affair. */

import {parseQuantity as parse, printQuantity as print} from '../../schema/quantity.ts';

const nano = 1_000_000_000n;

/** The value in nanos; undefined for what is no quantity. */
export function parseQuantity(value: unknown): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' ? parse(text)?.nanos : undefined;
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
export const printQuantity = (value: bigint, like: unknown): string =>
  print({nanos: value, format: hasBinarySuffix(like) ? 'BinarySI' : 'DecimalSI'});
