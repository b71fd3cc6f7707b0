/** Label selectors: the query language, the objects with matchLabels and matchExpressions, and what both become: a question to labels. */
import {badRequest} from '../errors.ts';
import {type FieldError, invalid} from '../field-errors.ts';
import {qualifiedName, validLabelValue} from '../kinds/common/names.ts';
import {lex, type Token} from './label-tokens.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** Sorted, without doubles. */
  values: readonly string[];
}

/** All must hold. Sorted by key. */
export type LabelRequirements = readonly LabelRequirement[];

export type Labels = Readonly<Record<string, string>>;
export type LabelMatcher = (labels: Labels) => boolean;

/** A selector as it stands in specs; the empty one selects everything, an absent one nothing. */
export interface LabelSelectorObject {
  matchLabels?: Readonly<Record<string, string>> | null;
  matchExpressions?: readonly {key?: string; operator?: string; values?: readonly string[] | null}[] | null;
}

/** `a=b, c in (d,e), !f, g>1`. @throws StatusError 400 in the words of the reference */
export function parseLabelSelector(text: string): LabelRequirements {
  try {
    return byKey(new Parser(lex(text)).selector());
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

/** One closure for the hot path: the common single requirement costs one look-up. */
export function labelMatcher(requirements: LabelRequirements): LabelMatcher {
  const [first, second, ...rest] = requirements.map(matcherOf);
  if (!first) return () => true;
  if (!second) return first;
  return rest.length === 0
    ? (labels) => first(labels) && second(labels)
    : (labels) => first(labels) && second(labels) && rest.every((matches) => matches(labels));
}

/** The canonical form, as errors and authorizers see it. */
export const printLabelSelector = (requirements: LabelRequirements): string => requirements.map(printRequirement).join(',');

/** @throws Error when the object is no valid selector */
export function requirementsOf(selector: LabelSelectorObject): LabelRequirements {
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, '=', [value]));
  for (const {key = '', operator = '', values} of selector.matchExpressions ?? []) {
    const known = Object.hasOwn(objectOperators, operator) ? objectOperators[operator] : undefined;
    if (!known) throw new SelectorError(`"${operator}" is not a valid label selector operator`);
    requirements.push(requirement(key, known, values ?? []));
  }
  return byKey(requirements);
}

/** Absent and invalid selectors match nothing. */
export function selectorFromObject(selector: LabelSelectorObject | null | undefined): LabelMatcher {
  if (!selector) return () => false;
  try {
    return labelMatcher(requirementsOf(selector));
  } catch (error) {
    if (error instanceof SelectorError) return () => false;
    throw error;
  }
}

export class SelectorError extends Error {}

const objectOperators: Record<string, LabelOperator> = {In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!'};
const symbols: Record<string, LabelOperator> = {'=': '=', '==': '==', '!=': '!=', '>': 'gt', '<': 'lt', in: 'in', notin: 'notin'};
const printed: Partial<Record<LabelOperator, string>> = {'=': '=', '==': '==', '!=': '!=', in: ' in ', notin: ' notin ', gt: '>', lt: '<'};

const byKey = (requirements: LabelRequirement[]): LabelRequirements =>
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

/** A recursive descent over the tokens; each refusal names what it found. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'word' && token.kind !== '!') throw unexpected(token, "!, identifier, or 'end of string'");
      try {
        requirements.push(this.#requirement());
      } catch (error) {
        if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
        throw error;
      }
      const next = this.#take();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw unexpected(next, "',' or 'end of string'");
      const after = this.#peek();
      if (after.kind !== 'word' && after.kind !== '!') throw unexpected(after, "identifier after ','");
    }
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!';
    if (negated) this.#take();
    const word = this.#take();
    if (word.kind !== 'word') throw unexpected(word, 'identifier');
    const problems = qualifiedName(word.text);
    if (problems.length > 0) throw new SelectorError(printError(invalid('<nil>', word.text, problems.join('; '))));
    const next = this.#peek().kind;
    if (negated || next === 'end' || next === ',') return requirement(word.text, negated ? '!' : 'exists', []);
    const symbol = this.#take();
    const operator = Object.hasOwn(symbols, symbol.text) ? symbols[symbol.text]! : undefined;
    if (!operator) throw unexpected(symbol, 'in, notin, =, ==, !=, gt, lt');
    return requirement(word.text, operator, operator === 'in' || operator === 'notin' ? this.#values() : this.#value());
  }

  #value(): string[] {
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return [''];
    const word = this.#take();
    if (word.kind !== 'word') throw unexpected(word, 'identifier');
    return [word.text];
  }

  /** `(a,b)`. A comma with nothing on one side of it stands for the empty value too. */
  #values(): string[] {
    const open = this.#take();
    // Without the comma that all the other refusals have: so it is worded there.
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#take();
      return [''];
    }
    if (first.kind !== 'word' && first.kind !== ',') throw unexpected(first, "',', ')' or identifier");
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token.kind === 'word') {
        values.add(token.text);
        const next = this.#peek();
        if (next.kind === ')') break;
        if (next.kind !== ',') throw unexpected(next, "',' or ')'");
      } else if (token.kind === ',') {
        const next = this.#peek();
        if (values.size === 0 || next.kind === ')' || next.kind === ',') values.add('');
        if (next.kind === ')') break;
      } else throw unexpected(token, "',', or identifier");
    }
    this.#take();
    return [...values].sort();
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }

  #take(): Token {
    return this.#tokens[this.#at++]!;
  }
}

const unexpected = (token: Token, expected: string): SelectorError => new SelectorError(`found '${token.text}', expected: ${expected}`);

const printError = (error: FieldError): string => `${error.field}: ${error.message}`;

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: FieldError[] = qualifiedName(key).length > 0 ? [invalid('key', key, qualifiedName(key).join('; '))] : [];
  if ((operator === 'in' || operator === 'notin') && values.length === 0)
    errors.push(invalid('values', values, "for 'in', 'notin' operators, values set can't be empty"));
  if ((operator === 'exists' || operator === '!') && values.length > 0)
    errors.push(invalid('values', values, 'values set must be empty for exists and does not exist'));
  if ((operator === 'gt' || operator === 'lt') && parseInt64(values[0]!) === undefined)
    errors.push(invalid('values[0]', values[0], "for 'Gt', 'Lt' operators, the value must be an integer"));
  for (const [at, value] of values.entries()) {
    const problems = validLabelValue(value);
    if (problems.length > 0) errors.push(invalid(`values[${at}][${key}]`, value, problems.join('; ')));
  }
  const texts = [...new Set(errors.map(printError))];
  if (texts.length > 0) throw new SelectorError(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);
  return {key, operator, values: values.length > 1 ? [...values].sort() : values};
}

/** What is inherited by every object is never a string, so that no label named `constructor` appears from nowhere. */
function matcherOf({key, operator, values}: LabelRequirement): LabelMatcher {
  const only = values.length === 1 ? values[0]! : undefined;
  const many = new Set(values);
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      if (only !== undefined) return (labels) => labels[key] === only;
      return (labels) => many.has(labels[key] as string);
    case '!=':
    case 'notin':
      if (only !== undefined) return (labels) => labels[key] !== only;
      return (labels) => !many.has(labels[key] as string);
    case 'exists':
      return (labels) => typeof labels[key] === 'string';
    case '!':
      return (labels) => typeof labels[key] !== 'string';
    default: {
      const bound = parseInt64(values[0]!)!;
      const holds = operator === 'gt' ? (value: bigint) => value > bound : (value: bigint) => value < bound;
      return (labels) => {
        const text = labels[key];
        const value = typeof text === 'string' ? parseInt64(text) : undefined;
        return value !== undefined && holds(value);
      };
    }
  }
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function printRequirement({key, operator, values}: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = values.join(',');
  return `${key}${printed[operator]}${operator === 'in' || operator === 'notin' ? `(${list})` : list}`;
}
