/** YAML bodies and answers. The library is loaded when the first YAML comes by: few requests need it. */
import {createRequire} from 'node:module';
import {goQuote} from '../field-errors.ts';
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';
import {JsonError, setKey} from './json.ts';

type Yaml = typeof import('yaml');
let loaded: Yaml | undefined;
const require = createRequire(import.meta.url);
const yaml = (): Yaml => {
  loaded ??= require('yaml') as Yaml;
  return loaded;
};

/** Aliases may stand for each other: what they unfold to is bounded. */
const maxAliases = 1_000;

/** The first document, as JSON. @throws JsonError */
export function parseYaml(bytes: Uint8Array): {value: Json; duplicates: readonly string[]} {
  const {parseAllDocuments, LineCounter, isMap, isScalar, visit} = yaml();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    strict: true,
    lineCounter,
    stringKeys: false,
    schema: 'yaml-1.1',
  });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (!document) return {value: null, duplicates: []};
  const [error] = document.errors;
  if (error) {
    const line = error.linePos?.[0].line;
    const words = goWords(error.code, error.message);
    throw new JsonError(`yaml: ${line !== undefined && line > 1 ? `line ${line}: ` : ''}${words}`);
  }
  const lines: string[] = [];
  visit(document, {
    Map(_key, map) {
      if (!isMap(map)) return;
      const seen = new Set<string>();
      for (const pair of map.items) {
        if (!isScalar(pair.key)) continue;
        const key = String(pair.key.value);
        if (seen.has(key))
          lines.push(`  line ${lineCounter.linePos(pair.key.range?.[0] ?? 0).line}: key ${goQuote(key)} already set in map`);
        seen.add(key);
      }
    },
  });
  const duplicates = lines.length > 0 ? [`yaml: unmarshal errors:\n${lines.join('\n')}`] : [];
  let value: unknown;
  try {
    value = document.toJS({maxAliasCount: maxAliases});
  } catch (cause) {
    throw new JsonError(`yaml: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  return {value: toJson(value, 0), duplicates};
}

function goWords(code: string, message: string): string {
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY' || /Nested mappings are not allowed/.test(message))
    return 'mapping values are not allowed in this context';
  if (code === 'TAB_AS_INDENT') return 'found character that cannot start any token';
  return message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
}

/** Dates, binary and big numbers become what JSON has; keys become strings. */
function toJson(value: unknown, depth: number): Json {
  if (depth > maxJsonDepth) throw new JsonError('yaml: exceeded max depth');
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, 'Z');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  const out: Record<string, Json> = {};
  const entries = value instanceof Map ? value : Object.entries(value as object);
  for (const [key, item] of entries) setKey(out, String(key), toJson(item, depth + 1));
  return out;
}

/** Keys sorted, as the reference prints. */
export const stringifyYaml = (value: object): string =>
  yaml().stringify(value, {sortMapEntries: true, lineWidth: 0, version: '1.1', aliasDuplicateObjects: false, indentSeq: false});
