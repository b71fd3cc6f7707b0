/** Node selectors and affinity terms against a node. Pure. */

export interface Requirement {
  key: string;
  operator: string;
  values?: readonly string[];
}

export interface Term {
  matchExpressions?: readonly Requirement[];
  matchFields?: readonly Requirement[];
}

export interface Labelled {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** One of the terms must match; a term that asks for nothing matches nothing. */
export const matchesTerms = (terms: readonly Term[], node: Labelled): boolean => terms.some((term) => matchesTerm(term, node));

export function matchesTerm({matchExpressions = [], matchFields = []}: Term, {labels, name}: Labelled): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => matches(requirement, labels[requirement.key])) &&
    // The only field that there is.
    matchFields.every((requirement) => requirement.key === 'metadata.name' && matches(requirement, name))
  );
}

/**
 * The nodes that the terms name, if each of them names some: no other node need be looked at, and none is by the reference scheduler, which says
 * so in other words.
 */
export function namedNodes(terms: readonly Term[]): ReadonlySet<string> | undefined {
  const all = new Set<string>();
  for (const {matchFields = []} of terms) {
    const lists = matchFields.filter(({key, operator}) => key === 'metadata.name' && operator === 'In').map(({values = []}) => values);
    if (lists.length === 0) return undefined;
    for (const name of lists[0]!) if (lists.every((names) => names.includes(name))) all.add(name);
  }
  return all;
}

function matches({operator, values = []}: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compares(value, values, (found, bound) => found > bound);
    case 'Lt':
      return compares(value, values, (found, bound) => found < bound);
  }
  return false;
}

function compares(value: string | undefined, values: readonly string[], by: (found: bigint, bound: bigint) => boolean): boolean {
  const [bound] = values;
  if (value === undefined || values.length !== 1 || !isInteger(value) || !isInteger(bound!)) return false;
  return by(BigInt(value), BigInt(bound!));
}

const isInteger = (text: string): boolean => /^-?\d+$/.test(text);
