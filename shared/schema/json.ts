/**
 * JSON at the door. The quick way is the platform's parser after one scan of the bytes that bounds the depth and counts the keys; only
 * what it refuses, or what holds a key twice, is read again by the parser below, which knows Go's words and where the doubles are.
 */
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';

export class JsonError extends Error {}

export interface ParsedJson {
  value: Json;
  /** Paths of keys that their object holds twice, in order: `data.k`, `spec.containers[0].name`. */
  duplicates: readonly string[];
}

const none: readonly string[] = [];

/** Bytes that are no UTF-8 become U+FFFD, as in Go. @throws JsonError in Go's words */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const {depth, colons} = scan(bytes);
  if (depth > maxJsonDepth) throw new JsonError('exceeded max depth');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // A BOM or the like may please one parser and not the other; the exact one decides.
    return new ExactParser(text).parse();
  }
  if (colons === countKeys(value)) return {value, duplicates: none};
  return new ExactParser(text).parse();
}

function scan(bytes: Uint8Array): {depth: number; colons: number} {
  let depth = 0;
  let deepest = 0;
  let colons = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
    } else if (byte === 0x3a) colons++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return {depth: deepest, colons};
}

function countKeys(root: Json): number {
  if (typeof root !== 'object' || root === null) return 0;
  let count = 0;
  const open: Json[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) {
      for (const item of node) if (typeof item === 'object' && item !== null) open.push(item);
    } else {
      for (const key in node as object) {
        count++;
        const item = (node as Record<string, Json>)[key];
        if (typeof item === 'object' && item !== null) open.push(item);
      }
      // A key of this name is an own property that for-in sees, but reading it by index would too.
    }
  }
  return count;
}

/** Sets an own property whatever its name: `__proto__` is a key like any other. */
export function setKey<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(target, key, {value, enumerable: true, configurable: true, writable: true});
  else target[key] = value;
}

const literals: Record<string, [string, Json]> = {t: ['true', true], f: ['false', false], n: ['null', null]};
const escapes: Record<string, string> = {'"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t'};

/** Recursive descent; the depth was bounded by the scan. */
class ExactParser {
  readonly #text: string;
  readonly #path: string[] = [];
  readonly #duplicates: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): ParsedJson {
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#invalid('after top-level value');
    return {value, duplicates: [...new Set(this.#duplicates)]};
  }

  #value(): Json {
    const char = this.#text[this.#at];
    if (char === '{') return this.#object();
    if (char === '[') return this.#array();
    if (char === '"') return this.#string();
    if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) return this.#number();
    const literal = char === undefined ? undefined : literals[char];
    if (!literal) throw this.#invalid('looking for beginning of value');
    for (let i = 1; i < literal[0].length; i++) {
      this.#at++;
      if (this.#text[this.#at] !== literal[0][i]) throw this.#invalid(`in literal ${literal[0]} (expecting '${literal[0][i]}')`);
    }
    this.#at++;
    return literal[1];
  }

  #object(): Json {
    const object: Record<string, Json> = {};
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return object;
    }
    for (;;) {
      if (this.#text[this.#at] !== '"') throw this.#invalid('looking for beginning of object key string');
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#invalid('after object key');
      this.#at++;
      this.#space();
      this.#path.push(this.#path.length > 0 ? `.${key}` : key);
      if (Object.hasOwn(object, key)) this.#duplicates.push(this.#path.join(''));
      setKey(object, key, this.#value());
      this.#path.pop();
      this.#space();
      const char = this.#text[this.#at];
      if (char === '}') {
        this.#at++;
        return object;
      }
      if (char !== ',') throw this.#invalid('after object key:value pair');
      this.#at++;
      this.#space();
    }
  }

  #array(): Json {
    const array: Json[] = [];
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return array;
    }
    for (;;) {
      this.#path.push(`[${array.length}]`);
      array.push(this.#value());
      this.#path.pop();
      this.#space();
      const char = this.#text[this.#at];
      if (char === ']') {
        this.#at++;
        return array;
      }
      if (char !== ',') throw this.#invalid('after array element');
      this.#at++;
      this.#space();
    }
  }

  #string(): string {
    let out = '';
    this.#at++;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === '"') {
        this.#at++;
        return out;
      }
      if (char === undefined || char < ' ') throw this.#invalid('in string literal');
      if (char !== '\\') out += char;
      else {
        this.#at++;
        const escape = this.#text[this.#at];
        if (escape === 'u') {
          for (let i = 1; i <= 4; i++) {
            this.#at++;
            if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) throw this.#invalid('in \\u hexadecimal character escape');
          }
          out += String.fromCharCode(Number.parseInt(this.#text.slice(this.#at - 3, this.#at + 1), 16));
        } else {
          const plain = escape === undefined ? undefined : escapes[escape];
          if (plain === undefined) throw this.#invalid('in string escape code');
          out += plain;
        }
      }
      this.#at++;
    }
  }

  #number(): Json {
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
    return Number(this.#text.slice(start, this.#at));
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
    const char = this.#text[this.#at];
    if (char === undefined) return new JsonError('unexpected end of JSON input');
    const code = char.charCodeAt(0);
    const printed =
      char === "'"
        ? "'\\''"
        : char === '"'
          ? `'"'`
          : char === '\n'
            ? "'\\n'"
            : code < 0x20
              ? `'\\x${code.toString(16).padStart(2, '0')}'`
              : `'${char}'`;
    return new JsonError(`invalid character ${printed} ${where}`);
  }
}
