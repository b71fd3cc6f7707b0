/**
 * A JSON document as it was written: keys in order and as often as they come, numbers with their digits. Slower than the platform's
 * parser and only used where that one says too little: to refuse in Go's words, and to say what is wrong where. Nothing here recurses.
 */
import {goQuote} from '../field-errors.ts';
import type {Json} from '../object.ts';

export class JsonError extends Error {}

export class NumberNode {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class ListNode {
  readonly items: JsonNode[] = [];
}

export class ObjectNode {
  readonly keys: string[] = [];
  readonly values: JsonNode[] = [];
}

export type JsonNode = null | boolean | string | NumberNode | ListNode | ObjectNode;

/** Sets an own property whatever its name: `__proto__` is a key like any other. */
export function setKey<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(target, key, {value, enumerable: true, configurable: true, writable: true});
  else target[key] = value;
}

/** @throws JsonError in Go's words */
export const parseDocument = (text: string): JsonNode => new Reader(text).read();

/** A value that never was a text, or is one no longer. Keys in their order; `sorted` puts them in the order in which Go prints maps. */
export function documentOf(root: Json, sorted = false): JsonNode {
  const open: [Json, (node: JsonNode) => void][] = [];
  let result: JsonNode = null;
  const visit = (value: Json, place: (node: JsonNode) => void): void => {
    if (typeof value === 'number') place(new NumberNode(String(value)));
    else if (typeof value !== 'object' || value === null) place(value);
    else open.push([value, place]);
  };
  visit(root, (node) => {
    result = node;
  });
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, place] = next;
    if (Array.isArray(value)) {
      const list = new ListNode();
      place(list);
      for (const [at, item] of value.entries())
        visit(item, (node) => {
          list.items[at] = node;
        });
    } else {
      const object = new ObjectNode();
      place(object);
      const keys = Object.keys(value as object);
      if (sorted) keys.sort();
      for (const [at, key] of keys.entries()) {
        object.keys.push(key);
        visit((value as Record<string, Json>)[key]!, (node) => {
          object.values[at] = node;
        });
      }
    }
  }
  return result;
}

/** The last of several values of a key stays, as in Go's maps. */
export function valueOfNode(root: JsonNode): Json {
  const open: [ListNode | ObjectNode, Json[] | Record<string, Json>][] = [];
  const shallow = (node: JsonNode): Json => {
    if (node instanceof NumberNode) return Number(node.text);
    if (!(node instanceof ListNode || node instanceof ObjectNode)) return node;
    const value = node instanceof ListNode ? [] : {};
    open.push([node, value]);
    return value;
  };
  const result = shallow(root);
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, value] = next;
    if (node instanceof ListNode) for (const item of node.items) (value as Json[]).push(shallow(item));
    else for (const [at, key] of node.keys.entries()) setKey(value as Record<string, Json>, key, shallow(node.values[at]!));
  }
  return result;
}

/** More faults than this are not told. */
export const maxStrictErrors = 100;

/** Paths of keys that come again in the same object, in the order of the document, each once. */
export function duplicatesIn(root: JsonNode): string[] {
  const found = new Set<string>();
  const open: {node: ListNode | ObjectNode; path: string; at: number; seen: Set<string>}[] = [];
  const enter = (node: JsonNode, path: string): void => {
    if (node instanceof ListNode || node instanceof ObjectNode) open.push({node, path, at: 0, seen: new Set()});
  };
  enter(root, '');
  for (let frame = open.at(-1); frame && found.size < maxStrictErrors; frame = open.at(-1)) {
    const {node, path, at, seen} = frame;
    frame.at++;
    if (node instanceof ListNode) {
      if (at === node.items.length) open.pop();
      else enter(node.items[at]!, `${path}[${at}]`);
    } else if (at === node.keys.length) open.pop();
    else {
      const key = node.keys[at]!;
      const below = path ? `${path}.${key}` : key;
      if (seen.has(key)) found.add(below);
      seen.add(key);
      enter(node.values[at]!, below);
    }
  }
  return [...found];
}

const literals: Readonly<Record<string, readonly [string, boolean | null]>> = {t: ['true', true], f: ['false', false], n: ['null', null]};
const escapes: Readonly<Record<string, string>> = {'"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t'};
const quote = 0x22;
const backslash = 0x5c;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonNode {
    const open: (ListNode | ObjectNode)[] = [];
    for (;;) {
      this.#space();
      const parent = open.at(-1);
      if (parent instanceof ObjectNode) {
        if (this.#text[this.#at] !== '"') throw this.#invalid('looking for beginning of object key string');
        parent.keys.push(this.#string());
        this.#space();
        if (this.#text[this.#at] !== ':') throw this.#invalid('after object key');
        this.#at++;
        this.#space();
      }
      const node = this.#value();
      this.#put(parent, node);
      const isEmpty = node instanceof ListNode ? this.#closes(']') : node instanceof ObjectNode && this.#closes('}');
      if (!isEmpty && (node instanceof ListNode || node instanceof ObjectNode)) {
        open.push(node);
        continue;
      }
      const root = this.#close(open, node);
      if (root !== undefined) return root;
    }
  }

  #put(parent: ListNode | ObjectNode | undefined, node: JsonNode): void {
    if (parent instanceof ListNode) parent.items.push(node);
    else if (parent) parent.values.push(node);
  }

  /** Of a list or object that was just opened: whether it ends at once. */
  #closes(bracket: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  /** After a value: ends what ends with it. The root when nothing is open any more. */
  #close(open: (ListNode | ObjectNode)[], node: JsonNode): JsonNode | undefined {
    let last = node;
    for (;;) {
      this.#space();
      const parent = open.at(-1);
      const char = this.#text[this.#at];
      if (!parent) {
        if (char !== undefined) throw this.#invalid('after top-level value');
        return last;
      }
      if (char === ',') {
        this.#at++;
        return undefined;
      }
      if (char !== (parent instanceof ListNode ? ']' : '}'))
        throw this.#invalid(parent instanceof ListNode ? 'after array element' : 'after object key:value pair');
      this.#at++;
      last = parent;
      open.pop();
    }
  }

  /** Lists and objects are only begun. */
  #value(): JsonNode {
    const char = this.#text[this.#at];
    if (char === '{' || char === '[') {
      this.#at++;
      return char === '[' ? new ListNode() : new ObjectNode();
    }
    if (char === '"') return this.#string();
    if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) return this.#number();
    const literal = char === undefined ? undefined : literals[char];
    if (!literal) throw this.#invalid('looking for beginning of value');
    const [word, value] = literal;
    for (let i = 1; i < word.length; i++) {
      this.#at++;
      if (this.#text[this.#at] !== word[i]) throw this.#invalid(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at++;
    return value;
  }

  #string(): string {
    let out = '';
    let plainFrom = ++this.#at;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote) {
        out += this.#text.slice(plainFrom, this.#at++);
        return out;
      }
      if (Number.isNaN(code) || code < 0x20) throw this.#invalid('in string literal');
      if (code === backslash) {
        out += this.#text.slice(plainFrom, this.#at) + this.#escape();
        plainFrom = this.#at + 1;
      }
      this.#at++;
    }
  }

  /** Ends on its last character. */
  #escape(): string {
    this.#at++;
    const char = this.#text[this.#at];
    if (char !== 'u') {
      const plain = char === undefined ? undefined : escapes[char];
      if (plain === undefined) throw this.#invalid('in string escape code');
      return plain;
    }
    for (let i = 0; i < 4; i++) {
      this.#at++;
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) throw this.#invalid('in \\u hexadecimal character escape');
    }
    return String.fromCharCode(Number.parseInt(this.#text.slice(this.#at - 3, this.#at + 1), 16));
  }

  #number(): NumberNode {
    const start = this.#at;
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      this.#at++;
      if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    return new NumberNode(this.#text.slice(start, this.#at));
  }

  #digits(where: string): void {
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at]! >= '0' && this.#text[this.#at]! <= '9') this.#at++;
    if (this.#at === start) throw this.#invalid(where);
  }

  #space(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char !== ' ' && char !== '\n' && char !== '\t' && char !== '\r') return;
      this.#at++;
    }
  }

  #invalid(where: string): JsonError {
    if (this.#at >= this.#text.length)
      // Go looks whether a space would end what is open, and says so where it would not.
      return new JsonError(insideToken.test(where) ? `invalid character ' ' ${where}` : 'unexpected end of JSON input');
    return new JsonError(`invalid character ${quoteChar(this.#text.codePointAt(this.#at)!)} ${where}`);
  }
}

const insideToken = /^(in literal|in numeric|after decimal|in exponent|in string escape|in \\u)/;

/** Go reads bytes: of a character beyond ASCII it names the first one, as if that were a character. */
function quoteChar(code: number): string {
  if (code === 0x27) return "'\\''";
  if (code === quote) return `'"'`;
  const lead = code < 0x80 ? code : code < 0x800 ? 0xc0 | (code >> 6) : code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
  return `'${goQuote(String.fromCharCode(lead)).slice(1, -1)}'`;
}
