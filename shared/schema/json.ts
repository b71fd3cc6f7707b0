/**
 * JSON at the door. The quick way is the platform's parser after one scan of the bytes that bounds the depth and counts the keys; only
 * what it refuses, or what holds a key twice, is read again as a document (document.ts), which knows Go's words and where the doubles are.
 */
import {isUtf8} from 'node:buffer';
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';
import {duplicatesIn, JsonError, type JsonNode, parseDocument, valueOfNode} from './document.ts';

export {JsonError, setKey} from './document.ts';

export interface ParsedJson {
  value: Json;
  /** Paths of keys that their object holds twice, in order: `data.k`, `spec.containers[0].name`. */
  duplicates: readonly string[];
  /** Some number is spelled with a fraction or an exponent, or is longer than a double can say: types may care. */
  oddNumbers: boolean;
  /** The document as it was written. */
  document: () => JsonNode;
}

const none: readonly string[] = [];

/** Bytes that are no UTF-8 become U+FFFD, as in Go. @throws JsonError in Go's words */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const {deepest, tooDeep, colons, oddNumbers} = scan(bytes);
  if (deepest > maxJsonDepth) throw new JsonError(`invalid character '${tooDeep}' exceeded max depth`);
  const text = textOf(bytes);
  const document = () => parseDocument(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // A byte order mark or the like may please one parser and not the other; the exact one decides.
    value = valueOfNode(document());
    return {value, duplicates: none, oddNumbers, document};
  }
  const duplicates = colons === countKeys(value) ? none : duplicatesIn(document());
  return {value, duplicates, oddNumbers, document};
}

/** Each byte that is no part of UTF-8 becomes a U+FFFD of its own; the platform makes one of several. */
export function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!text.includes('\ufffd') || isUtf8(bytes)) return text;
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const width = validWidth(bytes, at);
    out += width === 0 ? '\ufffd' : Buffer.from(bytes.subarray(at, at + width)).toString('utf8');
    at += width || 1;
  }
  return out;
}

/** Of the character that begins here; zero for none. */
function validWidth(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  const width = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  return width > 0 && isUtf8(bytes.subarray(at, at + width)) ? width : 0;
}

/** More digits than this may not fit a double. */
const exactDigits = 15;

function scan(bytes: Uint8Array): {deepest: number; tooDeep: string; colons: number; oddNumbers: boolean} {
  const {length} = bytes;
  let depth = 0;
  let deepest = 0;
  let tooDeep = '';
  let colons = 0;
  let digits = 0;
  let oddNumbers = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === 0x22) {
      for (at++; at < length; at++) {
        const inside = bytes[at];
        if (inside === 0x22) break;
        if (inside === 0x5c) at++;
      }
    } else if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > exactDigits) oddNumbers = true;
      continue;
    } else if (byte === 0x3a) colons++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest && ++deepest === maxJsonDepth + 1) tooDeep = String.fromCharCode(byte);
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (digits > 0 && (byte === 0x2e || byte === 0x65 || byte === 0x45)) oddNumbers = true;
    digits = 0;
  }
  return {deepest, tooDeep, colons, oddNumbers};
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
    }
  }
  return count;
}
