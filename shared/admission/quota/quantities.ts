/** Amounts by resource name, as quotas hold them: sums, differences, and what is over. */
import {addQuantity, compareQuantity, subtractQuantity} from '../../schema/quantity.ts';

export type Quantities = Readonly<Record<string, string>>;

const select = (amounts: Quantities, wanted: (name: string, amount: string) => boolean): Quantities =>
  Object.fromEntries(Object.entries(amounts).filter(([name, amount]) => wanted(name, amount)));

/** Those of `amounts` that `names` has as well. */
export const only = (amounts: Quantities, names: Quantities): Quantities => select(amounts, (name) => Object.hasOwn(names, name));

export const withoutZeros = (amounts: Quantities): Quantities => select(amounts, (_name, amount) => compareQuantity(amount, '0') !== 0);

export function sum(a: Quantities, b: Quantities): Quantities {
  const total: Record<string, string> = {...a};
  for (const [name, amount] of Object.entries(b)) total[name] = Object.hasOwn(a, name) ? addQuantity(a[name]!, amount) : amount;
  return total;
}

/** By how much `a` is more than `b`; nothing is given back where it is less. */
export const excess = (a: Quantities, b: Quantities): Quantities =>
  Object.fromEntries(
    Object.entries(a).map(([name, amount]) => {
      const rest = Object.hasOwn(b, name) ? subtractQuantity(amount, b[name]!) : amount;
      return [name, compareQuantity(rest, '0') > 0 ? rest : '0'];
    }),
  );

/** Those of `amounts` that are over the limit of their name. */
export const over = (amounts: Quantities, limits: Quantities): Quantities =>
  select(amounts, (name, amount) => Object.hasOwn(limits, name) && compareQuantity(amount, limits[name]!) > 0);

export const same = (a: Quantities, b: Quantities): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, amount]) => Object.hasOwn(b, name) && compareQuantity(amount, b[name]!) === 0);

/** As messages have them: sorted by name. */
export const print = (amounts: Quantities): string =>
  Object.keys(amounts)
    .sort()
    .map((name) => `${name}=${amounts[name]}`)
    .join(',');
