import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  parseQuantity,
  printQuantity,
  quantityError,
  quantityToNumber,
  quantityUnits,
  roundToMilli,
  subtractQuantity,
} from './quantity.ts';

/** Recorded from the reference's own library. */
const recorded = readFileSync(new URL('testdata/quantities.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as {text: string; canonical?: string; milli?: string; fault?: string});

describe('spelling', () => {
  test.each(recorded.map((row) => [row.text, row] as const))('%j', (text, {canonical, milli, fault}) => {
    expect(canonicalQuantity(text)).toBe(canonical);
    if (fault !== undefined) expect(quantityError(text)).toBe(fault);
    else expect(roundToMilli(canonical!)).toBe(milli);
  });

  test('a number of absurd length is refused, not counted', () => {
    expect(canonicalQuantity('9'.repeat(3_000_000))).toBeUndefined();
  });
});

describe('sums', () => {
  test.each([
    ['1Gi', '1Gi', '2Gi'],
    ['1Gi', '1', '1073741825'],
    ['500m', '500m', '1'],
    ['0', '1Gi', '1Gi'],
    ['1', '24Ki', '24577'],
    ['1e3', '1', '1001'],
  ])('%s + %s = %s, in the notation of the first', (a, b, sum) => {
    expect(addQuantity(a, b)).toBe(sum);
    expect(compareQuantity(subtractQuantity(sum, b), a)).toBe(0);
  });

  test('order is by amount, not by spelling', () => {
    expect(compareQuantity('1Gi', '1024Mi')).toBe(0);
    expect(compareQuantity('999m', '1')).toBeLessThan(0);
    expect(compareQuantity('1G', '1Gi')).toBeLessThan(0);
    expect(compareQuantity('-1', '-2')).toBeGreaterThan(0);
  });

  test('as numbers', () => {
    expect(quantityToNumber('1500m')).toBe(1.5);
    expect(quantityToNumber('1Gi')).toBe(1024 ** 3);
    expect(quantityUnits('1500m')).toBe(2n);
    expect(quantityUnits('-1500m')).toBe(-2n);
  });
});

const amounts = fc
  .tuple(fc.integer({min: -1e9, max: 1e9}), fc.integer({min: 0, max: 999}), fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3'))
  .map(([whole, fraction, suffix]) => `${whole}.${String(fraction).padStart(3, '0')}${suffix}`);

describe('laws', () => {
  test('spelling an amount normally does not change it', () => {
    fc.assert(fc.property(amounts, (text) => compareQuantity(canonicalQuantity(text)!, text) === 0));
  });

  test('what was printed reads back', () => {
    fc.assert(
      fc.property(amounts, (text) => {
        const quantity = parseQuantity(text)!;
        expect(parseQuantity(printQuantity(quantity))!.nanos).toBe(quantity.nanos);
      }),
    );
  });

  test('any text is an amount or refused with words', () => {
    fc.assert(
      fc.property(fc.string({unit: fc.constantFrom(...'0159.+-eEinumkKMGTP ')}), (text) => {
        const canonical = canonicalQuantity(text);
        if (canonical === undefined) expect(quantityError(text)).not.toBe('');
        else expect(canonicalQuantity(canonical)).toBe(canonical);
      }),
    );
  });
});
