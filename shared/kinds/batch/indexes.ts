/** Sets of indexes as text: `1,3-5,7`. */
import {goQuote} from '../../field-errors.ts';

type Interval = readonly [first: number, last: number];

function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2)
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${goQuote(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${goQuote(limit)}`;
    numbers.push(Number(limit));
  }
  const [first, last] = [numbers[0]!, numbers.at(-1)!];
  return limits.length === 2 && first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : [first, last];
}

/** How many indexes there are, or what is wrong with them. */
export function parseIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    const [first, last] = interval;
    if (previous !== undefined && previous >= first) return `non-increasing order, previous: ${previous}, current: ${first}`;
    total += last - first + 1;
    previous = last;
  }
  return total;
}

const intervals = (text: string, completions: number): Interval[] =>
  text === ''
    ? []
    : text
        .split(',')
        .map((part) => parseInterval(part, completions))
        .filter((part): part is Interval => typeof part !== 'string');

/** The first index that two sets share. */
export function overlap(one: string, other: string, completions: number): number | undefined {
  for (const [first, last] of intervals(one, completions))
    for (const [from, to] of intervals(other, completions)) if (first <= to && from <= last) return Math.max(first, from);
  return undefined;
}
