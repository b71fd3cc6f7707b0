/**
 * The expression language: conditions, key conditions, projections and updates, as DynamoDB documents it. What is not of the language,
 * a name or value that is not given, and one that is given and not used, are ValidationExceptions. The list of reserved words is left
 * to the real one.
 */

import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import {type Item, invalid} from './errors.ts';
import {compare, membersOf, numberOf, same, setOf, typeOf, valueBytes} from './values.ts';

/** Where an attribute stands: its name, then names and indexes within. */
type Path = (string | number)[];

export type Operand =
  | {kind: 'path'; path: Path}
  | {kind: 'value'; name: string}
  | {kind: 'size'; of: Path}
  | {kind: 'sum'; sign: 1 | -1; left: Operand; right: Operand}
  | {kind: 'ifMissing'; path: Path; otherwise: Operand}
  | {kind: 'joined'; left: Operand; right: Operand};

export type Condition =
  | {kind: 'and' | 'or'; left: Condition; right: Condition}
  | {kind: 'not'; of: Condition}
  | {kind: 'compare'; operator: string; left: Operand; right: Operand}
  | {kind: 'between'; of: Operand; low: Operand; high: Operand}
  | {kind: 'in'; of: Operand; list: Operand[]}
  | {kind: 'call'; name: string; path: Path; argument?: Operand};

export interface Update {
  set: {path: Path; to: Operand}[];
  remove: Path[];
  add: {path: Path; value: string}[];
  delete: {path: Path; value: string}[];
}

/** Names and values that expressions refer to; remembers which were used. */
export class Arguments {
  readonly #names: Readonly<Record<string, string>>;
  readonly #values: Item;
  readonly #used = new Set<string>();

  constructor(names: Readonly<Record<string, string>> | undefined, values: Item | undefined) {
    this.#names = names ?? {};
    this.#values = values ?? {};
  }

  name(placeholder: string): string {
    this.#used.add(placeholder);
    const name = this.#names[placeholder];
    if (name === undefined)
      throw invalid(
        `Invalid expression: An expression attribute name used in the document path is not defined; attribute name: ${placeholder}`,
      );
    return name;
  }

  value(placeholder: string): AttributeValue {
    this.#used.add(placeholder);
    const value = this.#values[placeholder];
    if (value === undefined)
      throw invalid(`Invalid expression: An expression attribute value used in expression is not defined; attribute value: ${placeholder}`);
    return value;
  }

  /** Looks up all that an expression refers to, whatever will come of it. */
  see(expression: Condition | Update | Operand): void {
    if ('set' in expression) {
      for (const {path, to} of expression.set) {
        this.#seePath(path);
        this.see(to);
      }
      for (const path of expression.remove) this.#seePath(path);
      for (const {path, value} of [...expression.add, ...expression.delete]) {
        this.#seePath(path);
        this.value(value);
      }
      return;
    }
    if (expression.kind === 'value') this.value(expression.name);
    if ('path' in expression) this.#seePath(expression.path);
    if (expression.kind === 'size') this.#seePath(expression.of);
    else if ('of' in expression) this.see(expression.of);
    if ('left' in expression) this.see(expression.left);
    if ('right' in expression) this.see(expression.right);
    if ('otherwise' in expression) this.see(expression.otherwise);
    if ('low' in expression) this.see(expression.low);
    if ('high' in expression) this.see(expression.high);
    if ('list' in expression) for (const operand of expression.list) this.see(operand);
    if ('argument' in expression && expression.argument) this.see(expression.argument);
  }

  #seePath(path: Path): void {
    for (const part of path) if (typeof part === 'string' && part.startsWith('#')) this.name(part);
  }

  assertUsed(): void {
    const unused = (given: object): string[] => Object.keys(given).filter((placeholder) => !this.#used.has(placeholder));
    const names = unused(this.#names);
    if (names.length > 0) throw invalid(`Value provided in ExpressionAttributeNames unused in expressions: keys: {${names.join(', ')}}`);
    const values = unused(this.#values);
    if (values.length > 0) throw invalid(`Value provided in ExpressionAttributeValues unused in expressions: keys: {${values.join(', ')}}`);
  }
}

const token = /\s*(<>|<=|>=|[=<>()[\],.+-]|:[A-Za-z0-9_]+|#[A-Za-z0-9_]+|[A-Za-z_][A-Za-z0-9_]*|\d+)/y;
const maxExpressionBytes = 4096;

function tokensOf(text: string): string[] {
  if (Buffer.byteLength(text) > maxExpressionBytes) throw invalid('Expression size has exceeded the maximum allowed size');
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  token.lastIndex = 0;
  while (token.lastIndex < end) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw invalid(`Invalid expression: Syntax error; token: ${JSON.stringify(text.slice(at, at + 10))}`);
    tokens.push(match[1]!);
  }
  if (tokens.length === 0) throw invalid('Invalid expression: The expression can not be empty;');
  return tokens;
}

const comparators = new Set(['=', '<>', '<', '<=', '>', '>=']);
const pathFunctions = new Set(['attribute_exists', 'attribute_not_exists']);
const argumentFunctions = new Set(['attribute_type', 'begins_with', 'contains']);

class Parser {
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  condition(): Condition {
    const condition = this.#or();
    this.#end();
    return condition;
  }

  paths(): Path[] {
    const paths = this.#list(() => this.#path());
    this.#end();
    return paths;
  }

  update(): Update {
    const update: Update = {set: [], remove: [], add: [], delete: []};
    const seen = new Set<string>();
    while (this.#at < this.#tokens.length) {
      const clause = this.#next().toUpperCase();
      if (seen.has(clause))
        throw invalid(`Invalid UpdateExpression: The "${clause}" section can only be used once in an update expression;`);
      seen.add(clause);
      if (clause === 'SET') update.set = this.#list(() => this.#assignment());
      else if (clause === 'REMOVE') update.remove = this.#list(() => this.#path());
      else if (clause === 'ADD') update.add = this.#list(() => ({path: this.#path(), value: this.#placeholder()}));
      else if (clause === 'DELETE') update.delete = this.#list(() => ({path: this.#path(), value: this.#placeholder()}));
      else throw this.#unexpected(clause);
    }
    return update;
  }

  #or(): Condition {
    let left = this.#and();
    while (this.#takes('OR')) left = {kind: 'or', left, right: this.#and()};
    return left;
  }

  #and(): Condition {
    let left = this.#not();
    while (this.#takes('AND')) left = {kind: 'and', left, right: this.#not()};
    return left;
  }

  #not(): Condition {
    return this.#takes('NOT') ? {kind: 'not', of: this.#not()} : this.#simple();
  }

  #simple(): Condition {
    if (this.#takes('(')) {
      const inner = this.#or();
      this.#expect(')');
      return inner;
    }
    const [name, bracket] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
    if (name !== undefined && bracket === '(' && (pathFunctions.has(name) || argumentFunctions.has(name))) {
      this.#at += 2;
      const path = this.#path();
      if (pathFunctions.has(name)) {
        this.#expect(')');
        return {kind: 'call', name, path};
      }
      this.#expect(',');
      const argument = this.#operand();
      this.#expect(')');
      return {kind: 'call', name, path, argument};
    }
    const left = this.#operand();
    if (this.#takes('BETWEEN')) {
      const low = this.#operand();
      this.#expect('AND');
      return {kind: 'between', of: left, low, high: this.#operand()};
    }
    if (this.#takes('IN')) {
      this.#expect('(');
      const list = this.#list(() => this.#operand());
      this.#expect(')');
      return {kind: 'in', of: left, list};
    }
    const operator = this.#next();
    if (!comparators.has(operator)) throw this.#unexpected(operator);
    return {kind: 'compare', operator, left, right: this.#operand()};
  }

  #operand(): Operand {
    const next = this.#tokens[this.#at];
    if (next?.startsWith(':')) {
      this.#at++;
      return {kind: 'value', name: next};
    }
    if (next === 'size' && this.#tokens[this.#at + 1] === '(') {
      this.#at += 2;
      const of = this.#path();
      this.#expect(')');
      return {kind: 'size', of};
    }
    return {kind: 'path', path: this.#path()};
  }

  #assignment(): {path: Path; to: Operand} {
    const path = this.#path();
    this.#expect('=');
    const left = this.#settable();
    const sign = this.#takes('+') ? 1 : this.#takes('-') ? -1 : undefined;
    return {path, to: sign ? {kind: 'sum', sign, left, right: this.#settable()} : left};
  }

  #settable(): Operand {
    const [name, bracket] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
    if (bracket === '(' && name === 'if_not_exists') {
      this.#at += 2;
      const path = this.#path();
      this.#expect(',');
      const otherwise = this.#settable();
      this.#expect(')');
      return {kind: 'ifMissing', path, otherwise};
    }
    if (bracket === '(' && name === 'list_append') {
      this.#at += 2;
      const left = this.#settable();
      this.#expect(',');
      const right = this.#settable();
      this.#expect(')');
      return {kind: 'joined', left, right};
    }
    return this.#operand();
  }

  #path(): Path {
    const path: Path = [this.#attribute()];
    for (;;) {
      if (this.#takes('.')) path.push(this.#attribute());
      else if (this.#takes('[')) {
        const index = this.#next();
        if (!/^\d+$/.test(index)) throw this.#unexpected(index);
        path.push(Number(index));
        this.#expect(']');
      } else return path;
    }
  }

  #attribute(): string {
    const name = this.#next();
    if (!/^[#A-Za-z_]/.test(name)) throw this.#unexpected(name);
    return name;
  }

  #placeholder(): string {
    const name = this.#next();
    if (!name.startsWith(':')) throw this.#unexpected(name);
    return name;
  }

  #list<T>(one: () => T): T[] {
    const list = [one()];
    while (this.#takes(',')) list.push(one());
    return list;
  }

  #takes(word: string): boolean {
    const next = this.#tokens[this.#at];
    if (next !== word && next?.toUpperCase() !== word) return false;
    this.#at++;
    return true;
  }

  #expect(word: string): void {
    if (!this.#takes(word)) throw this.#unexpected(this.#tokens[this.#at]);
  }

  #next(): string {
    const next = this.#tokens[this.#at++];
    if (next === undefined) throw this.#unexpected(next);
    return next;
  }

  #end(): void {
    if (this.#at < this.#tokens.length) throw this.#unexpected(this.#tokens[this.#at]);
  }

  #unexpected(word: string | undefined): Error {
    return invalid(`Invalid expression: Syntax error; token: ${JSON.stringify(word ?? '<EOF>')}, near: ${this.#tokens.join(' ')}`);
  }
}

/** Few texts are used again and again. */
function remembered<T>(parse: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let parsed = known.get(text);
    if (!parsed) {
      parsed = parse(text);
      known.set(text, parsed);
    }
    return parsed;
  };
}

export const parseCondition = remembered((text) => new Parser(text).condition());
export const parseUpdate = remembered((text) => new Parser(text).update());
export const parseProjection = remembered((text) => new Parser(text).paths());

const named = (part: string | number, given: Arguments): string | number =>
  typeof part === 'string' && part.startsWith('#') ? given.name(part) : part;

export const attributeOf = (path: Path, given: Arguments): string => named(path[0]!, given) as string;

function valueAt(item: Item, path: Path, given: Arguments): AttributeValue | undefined {
  let value: AttributeValue | undefined = item[named(path[0]!, given)];
  for (let at = 1; at < path.length && value; at++) {
    const part = named(path[at]!, given);
    value = typeof part === 'number' ? value.L?.[part] : value.M?.[part];
  }
  return value;
}

/** The value of an operand; undefined where an attribute is not there. */
export function evaluate(operand: Operand, item: Item, given: Arguments): AttributeValue | undefined {
  switch (operand.kind) {
    case 'path':
      return valueAt(item, operand.path, given);
    case 'value':
      return given.value(operand.name);
    case 'size': {
      const value = valueAt(item, operand.of, given);
      if (!value) return undefined;
      const counted = value.L ?? value.SS ?? value.NS ?? value.BS ?? (value.M && Object.keys(value.M));
      return {N: String(counted ? counted.length : valueBytes(value))};
    }
    case 'ifMissing': {
      const otherwise = evaluate(operand.otherwise, item, given);
      return valueAt(item, operand.path, given) ?? otherwise;
    }
    case 'sum': {
      const [left, right] = [evaluate(operand.left, item, given), evaluate(operand.right, item, given)];
      if (!left || !right) throw invalid('The provided expression refers to an attribute that does not exist in the item');
      if (left.N === undefined || right.N === undefined) throw wrongType();
      return {N: String(numberOf(left.N) + operand.sign * numberOf(right.N))};
    }
    case 'joined': {
      const [left, right] = [evaluate(operand.left, item, given), evaluate(operand.right, item, given)];
      if (!left?.L || !right?.L) throw wrongType();
      return {L: [...left.L, ...right.L]};
    }
  }
}

const wrongType = (): Error => invalid('An operand in the update expression has an incorrect data type');

export function holds(condition: Condition, item: Item, given: Arguments): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const left = holds(condition.left, item, given);
      return left === (condition.kind === 'and') ? holds(condition.right, item, given) : left;
    }
    case 'not':
      return !holds(condition.of, item, given);
    case 'compare': {
      const [left, right] = [evaluate(condition.left, item, given), evaluate(condition.right, item, given)];
      return compares(condition.operator, left, right);
    }
    case 'between': {
      const value = evaluate(condition.of, item, given);
      const [low, high] = [evaluate(condition.low, item, given), evaluate(condition.high, item, given)];
      if (low && high && (compare(low, high) ?? 0) > 0)
        throw invalid('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
      return compares('>=', value, low) && compares('<=', value, high);
    }
    case 'in': {
      const value = evaluate(condition.of, item, given);
      const list = condition.list.map((operand) => evaluate(operand, item, given));
      return value !== undefined && list.some((other) => other && same(value, other));
    }
    case 'call':
      return called(condition, item, given);
  }
}

function compares(operator: string, left: AttributeValue | undefined, right: AttributeValue | undefined): boolean {
  if (!left || !right) return operator === '<>' && left !== right;
  if (operator === '=') return same(left, right);
  if (operator === '<>') return !same(left, right);
  const order = compare(left, right);
  if (order === undefined) return false;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function called(condition: Condition & {kind: 'call'}, item: Item, given: Arguments): boolean {
  const value = valueAt(item, condition.path, given);
  if (condition.name === 'attribute_exists') return value !== undefined;
  if (condition.name === 'attribute_not_exists') return value === undefined;
  const argument = evaluate(condition.argument!, item, given);
  if (!value || !argument) return false;
  if (condition.name === 'attribute_type') return typeOf(value) === argument.S;
  if (condition.name === 'begins_with') {
    if (value.S !== undefined && argument.S !== undefined) return value.S.startsWith(argument.S);
    return value.B !== undefined && argument.B !== undefined && Buffer.compare(value.B.subarray(0, argument.B.length), argument.B) === 0;
  }
  if (value.S !== undefined) return argument.S !== undefined && value.S.includes(argument.S);
  return (value.L ?? membersOf(value)).some((member) => same(member, argument));
}

/** The item with an update made; every right side sees the item as it was. */
export function updated(update: Update, item: Item, given: Arguments): Item {
  const result = structuredCopy(item);
  const targets = [...update.set, ...update.add, ...update.delete].map(({path}) => path).concat(update.remove);
  const texts = targets.map((path) => path.map((part) => named(part, given)).join('\0'));
  if (new Set(texts).size < texts.length) throw invalid('Invalid UpdateExpression: Two document paths overlap with each other');
  for (const {path, to} of update.set) {
    const value = evaluate(to, item, given);
    if (!value) throw invalid('The provided expression refers to an attribute that does not exist in the item');
    put(result, path, value, given);
  }
  for (const path of update.remove) put(result, path, undefined, given);
  for (const {path, value} of update.add) {
    const before = valueAt(item, path, given);
    const operand = given.value(value);
    if (operand.N !== undefined) {
      if (before && before.N === undefined) throw wrongType();
      put(result, path, {N: String(numberOf(before?.N ?? '0') + numberOf(operand.N))}, given);
    } else {
      const members = before ? membersOf(before) : [];
      const added = membersOf(operand);
      if (added.length === 0 || (before && typeOf(before) !== typeOf(operand))) throw wrongType();
      put(result, path, setOf([...members, ...added.filter((one) => !members.some((other) => same(one, other)))]), given);
    }
  }
  for (const {path, value} of update.delete) {
    const before = valueAt(item, path, given);
    const taken = membersOf(given.value(value));
    if (taken.length === 0 || (before && typeOf(before) !== typeOf(given.value(value)))) throw wrongType();
    if (!before) continue;
    const left = membersOf(before).filter((one) => !taken.some((other) => same(one, other)));
    put(result, path, left.length > 0 ? setOf(left) : undefined, given);
  }
  return result;
}

function put(item: Item, path: Path, value: AttributeValue | undefined, given: Arguments): void {
  let holder: AttributeValue = {M: item};
  for (const part of path.slice(0, -1)) {
    const name = named(part, given);
    const next: AttributeValue | undefined = typeof name === 'number' ? holder.L?.[name] : holder.M?.[name];
    if (!next) throw invalid('The document path provided in the update expression is invalid for update');
    holder = next;
  }
  const last = named(path.at(-1)!, given);
  if (typeof last === 'number' && holder.L) {
    if (value) holder.L[Math.min(last, holder.L.length)] = value;
    else holder.L.splice(last, 1);
  } else if (typeof last === 'string' && holder.M) {
    if (value) holder.M[last] = value;
    else delete holder.M[last];
  } else throw invalid('The document path provided in the update expression is invalid for update');
}

/** Documents are copied; what is in them is never changed in place. */
function structuredCopy(item: Item): Item {
  const copy: Item = {};
  for (const name in item) copy[name] = copyOf(item[name]!);
  return copy;
}

function copyOf(value: AttributeValue): AttributeValue {
  if (value.M) return {M: structuredCopy(value.M)};
  return value.L ? {L: value.L.map(copyOf)} : value;
}

/** Those attributes that a projection names; of documents only whole attributes. */
export function projected(paths: readonly Path[], item: Item, given: Arguments): Item {
  const result: Item = {};
  for (const path of paths) {
    if (path.length > 1) throw invalid('this double projects whole attributes only');
    const name = attributeOf(path, given);
    const value = item[name];
    if (value) result[name] = value;
  }
  return result;
}
