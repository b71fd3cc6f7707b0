/**
 * A YAML document as JSON, the way Go's library turns one into the other: which plain words are numbers, booleans or null, what merges and
 * aliases unfold to (and when that gets too much), and which keys come again. Reading the text itself is the library's.
 */
import type {Document, Node, Scalar, YAMLMap} from 'yaml';
import {goQuote} from '../field-errors.ts';
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';
import {JsonError, setKey} from './document.ts';

type Yaml = typeof import('yaml');
type Key = string | number | boolean;

const yamlTag = (name: string): string => `tag:yaml.org,2002:${name}`;
const words = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
const notFinite: Readonly<Record<string, string>> = {inf: '+Inf', '+inf': '+Inf', '-inf': '-Inf', nan: 'NaN'};
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const prefixed = /^([-+]?)0([xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)$/;

export class YamlReader {
  readonly #yaml: Yaml;
  readonly #document: Document.Parsed;
  readonly #lineOf: (offset: number) => number;
  readonly #repeated: string[] = [];
  readonly #anchors = new Map<string, Node>();
  readonly #openAliases = new Set<Node>();
  /** Maps that are being read, from the outside in. */
  readonly #open: Node[] = [];
  #nodes = 0;
  #nodesOfAliases = 0;

  constructor(yaml: Yaml, document: Document.Parsed, lineOf: (offset: number) => number) {
    this.#yaml = yaml;
    this.#document = document;
    this.#lineOf = lineOf;
  }

  read(): {value: Json; duplicates: readonly string[]} {
    const value = this.#value(this.#document.contents as Node | null, 0);
    return {value, duplicates: this.#repeated.length > 0 ? [`yaml: unmarshal errors:\n${this.#repeated.join('\n')}`] : []};
  }

  #value(node: Node | null, depth: number): Json {
    const {isAlias, isMap, isScalar, isSeq} = this.#yaml;
    if (depth > maxJsonDepth) throw new JsonError('yaml: exceeded max depth');
    this.#count();
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node.source, this.#anchors.get(node.source), depth);
    this.#remember(node);
    if (isScalar(node)) return scalarValue(node);
    if (isSeq(node)) return node.items.map((item) => this.#value(item as Node | null, depth + 1));
    if (isMap(node)) {
      const out: Record<string, Json> = {};
      this.#fill(out, new Set(), node, depth);
      return out;
    }
    return null;
  }

  /** A small text must not unfold to a huge document: Go's bound on how much of it may come from aliases. */
  #count(): void {
    this.#nodes++;
    if (this.#openAliases.size > 0) this.#nodesOfAliases++;
    if (this.#nodesOfAliases > 100 && this.#nodes > 1000 && this.#nodesOfAliases / this.#nodes > allowedShare(this.#nodes))
      throw new JsonError('yaml: document contains excessive aliasing');
  }

  /** Anchors as they come by; a name that is given again stands for the later node. */
  #remember(node: Node): void {
    const {anchor} = node as {anchor?: string};
    if (anchor !== undefined && this.#openAliases.size === 0) this.#anchors.set(anchor, node);
  }

  #alias(name: string, target: Node | undefined, depth: number): Json {
    if (!target) throw new JsonError(`yaml: unknown anchor '${name}' referenced`);
    if (this.#openAliases.has(target) || this.#open.includes(target)) throw new JsonError(`yaml: anchor '${name}' value contains itself`);
    this.#openAliases.add(target);
    const value = this.#value(target, depth + 1);
    this.#openAliases.delete(target);
    return value;
  }

  #fill(out: Record<string, Json>, seen: Set<string>, map: YAMLMap, depth: number): void {
    this.#open.push(map);
    for (const {key, value} of map.items) {
      const keyNode = key as Node | null;
      const valueNode = value as Node | null;
      if (this.#isMerge(keyNode)) {
        this.#merge(out, seen, valueNode, depth);
        continue;
      }
      const given = keyNode === null ? null : this.#value(keyNode, depth + 1);
      const item = this.#value(valueNode, depth + 1);
      const name = keyOf(given, item);
      const text = String(name);
      if (seen.has(text)) {
        const at = valueNode?.range?.[0] ?? keyNode?.range?.[0] ?? 0;
        this.#repeated.push(`  line ${this.#lineOf(at)}: key ${typeof name === 'string' ? goQuote(name) : text} already set in map`);
      }
      seen.add(text);
      setKey(out, text, item);
    }
    this.#open.pop();
  }

  #isMerge(key: Node | null): boolean {
    return this.#yaml.isScalar(key) && key.value === '<<' && (key.type === 'PLAIN' || key.tag === yamlTag('merge'));
  }

  #merge(out: Record<string, Json>, seen: Set<string>, from: Node | null, depth: number): void {
    const {isAlias, isMap, isSeq} = this.#yaml;
    const resolved = (node: unknown): unknown => (isAlias(node) ? this.#anchors.get(node.source) : node);
    const target = resolved(from);
    // Of several, the first one counts.
    const maps = isSeq(target) && !isAlias(from) ? [...target.items].reverse() : [target];
    for (const item of maps) {
      const map = resolved(item);
      if (!isMap(map)) throw new JsonError('yaml: map merge requires map or sequence of maps as the value');
      if (this.#open.includes(map) || depth > maxJsonDepth) throw new JsonError(`yaml: anchor '${map.anchor ?? ''}' value contains itself`);
      const isForeign = map !== item || map !== from;
      if (isForeign) this.#openAliases.add(map);
      this.#count();
      this.#remember(map);
      this.#fill(out, seen, map, depth + 1);
      if (isForeign) this.#openAliases.delete(map);
    }
  }
}

/** The share of nodes that may come from aliases: nearly all of a small document, a tenth of a huge one. */
function allowedShare(nodes: number): number {
  const [few, many] = [400_000, 4_000_000];
  if (nodes <= few) return 0.99;
  return nodes >= many ? 0.1 : 0.99 - 0.89 * ((nodes - few) / (many - few));
}

function keyOf(key: Json, value: Json): Key {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'number') return key;
  if (key !== null) throw new JsonError('yaml: invalid map key');
  const shown = typeof value === 'string' ? goQuote(value) : value === null ? '<nil>' : String(value);
  throw new JsonError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
}

function scalarValue(node: Scalar): Json {
  const text = typeof node.value === 'string' ? node.value : '';
  const {tag} = node;
  switch (tag) {
    case undefined:
      return node.type === 'PLAIN' ? plainValue(text) : text;
    case '!':
    case yamlTag('str'):
    case yamlTag('timestamp'):
      return text;
    case yamlTag('binary'):
      return Buffer.from(text, 'base64').toString('utf8');
    case yamlTag('float'):
    case yamlTag('int'):
    case yamlTag('bool'):
    case yamlTag('null'): {
      const value = plainValue(text);
      const kind = value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'str' : 'number';
      const short = tag.slice(tag.lastIndexOf(':') + 1);
      if (kind === 'number' ? short !== 'int' && short !== 'float' : kind !== short)
        throw new JsonError(`yaml: cannot decode !!${kind === 'number' ? 'int' : kind} \`${text}\` as a !!${short}`);
      return value;
    }
    default:
      return text;
  }
}

/** What a word without quotes means. */
function plainValue(text: string): Json {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const special = /^([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)$/.exec(text);
  const unsupported = special && notFinite[special[1] + special[2]!.toLowerCase()];
  if (unsupported) throw new JsonError(`json: unsupported value: ${unsupported}`);
  if (text.startsWith('.')) return float.test(text) ? finite(text, text) : text;
  const digits = text.replaceAll('_', '');
  const based = prefixed.exec(digits);
  if (based) return basedNumber(based[1]!, based[2]!) ?? text;
  return float.test(digits) ? finite(digits, text) : text;
}

const finite = (digits: string, text: string): Json => (Number.isFinite(Number(digits)) ? Number(digits) + 0 : text);

function basedNumber(sign: string, rest: string): number | undefined {
  const literal = /^[0-7]/.test(rest) ? `0o${rest}` : `0${rest.toLowerCase()}`;
  if (literal.length > 70) return undefined;
  const value = BigInt(literal);
  return value < 1n << 64n ? Number(sign === '-' ? -value : value) : undefined;
}
