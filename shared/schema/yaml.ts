/** YAML bodies and answers. The library is loaded when the first YAML comes by: few requests need it. */
import {createRequire} from 'node:module';
import type {Document, YAMLParseError} from 'yaml';
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';
import {JsonError} from './document.ts';
import {YamlReader} from './yaml-reader.ts';

type Yaml = typeof import('yaml');
let loaded: Yaml | undefined;
const require = createRequire(import.meta.url);
const yaml = (): Yaml => {
  loaded ??= require('yaml') as Yaml;
  return loaded;
};

/** The first document, as JSON; `duplicates` is one text that names every key that comes again. @throws JsonError in Go's words */
export function parseYaml(bytes: Uint8Array): {value: Json; duplicates: readonly string[]} {
  const {parseAllDocuments, LineCounter} = yaml();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text)) throw new JsonError('yaml: control characters are not allowed');
  if (isTooDeep(text)) throw new JsonError('yaml: exceeded max depth');
  const lineCounter = new LineCounter();
  // Scalars stay texts: what they mean is up to the reader, which resolves them as Go's library does.
  const options = {
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    strict: true,
    lineCounter,
    stringKeys: false,
    // Else each of many errors would search the text for its line.
    prettyErrors: false,
  } as const;
  const documents = parseAllDocuments(text, options);
  const document = Array.isArray(documents) ? (documents[0] as Document.Parsed | undefined) : undefined;
  if (!document) return {value: null, duplicates: []};
  const [error] = document.errors;
  if (error) throw new JsonError(`yaml: ${wordsOf(error, text, lineCounter.linePos(error.pos[0]).line)}`);
  const {version, explicit} = document.directives?.yaml ?? {};
  if (explicit && version !== '1.1') throw new JsonError('yaml: found incompatible YAML document');
  if (document.warnings.some((warning) => warning.code === 'BAD_DIRECTIVE')) throw new JsonError('yaml: found unknown directive name');
  return new YamlReader(yaml(), document, (offset) => lineCounter.linePos(offset).line).read();
}

/**
 * The library builds nodes by recursion, and enough brackets exhaust not only its stack but the process. Levels are counted by brackets
 * that are open, and within a line by its indentation and the dashes that begin it: never fewer than there are.
 */
function isTooDeep(text: string): boolean {
  let open = 0;
  let line = 0;
  let isLineStart = true;
  for (const token of new (yaml().Lexer)().lex(text)) {
    if (token === '[' || token === '{') open++;
    else if (token === ']' || token === '}') open = Math.max(0, open - 1);
    if (token[0] === '\n' || token[0] === '\r') {
      line = 0;
      isLineStart = true;
    } else if (isLineStart && token[0] !== documentStart) {
      if (token[0] === ' ' || token === '-' || token === '?' || token === ':') line += token.length;
      else isLineStart = false;
    }
    if (open + line > maxJsonDepth) return true;
  }
  return false;
}

/** How the library marks where a document begins. */
const documentStart = '\x02';

/** What Go's library says where this one speaks differently. Its scanner counts lines from one, its parser from zero, and zero is not told. */
function wordsOf(error: YAMLParseError, text: string, line: number): string {
  const {code, message} = error;
  const offset = error.pos[0];
  const scanner = (words: string, at = line): string => (at > 1 ? `line ${at}: ${words}` : words);
  const isUnfinished = offset >= text.length && !text.endsWith('\n');
  const parser = (words: string): string => {
    const at = isUnfinished ? line : line - 1;
    return at > 0 ? `line ${at}: ${words}` : words;
  };
  if (code === 'BAD_ALIAS' && /^Unresolved/.test(message)) return `unknown anchor '${/: (\S+)/.exec(message)?.[1] ?? ''}' referenced`;
  if (code === 'BAD_ALIAS') return scanner('did not find expected alphabetic or numeric character');
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY' || message.startsWith('Nested mappings are not allowed')) {
    const colon = text.slice(offset).search(/:(\s|$)/);
    const lines = text.slice(offset, offset + Math.max(colon, 0)).split('\n').length - 1;
    return scanner('mapping values are not allowed in this context', line + lines);
  }
  if (code === 'TAB_AS_INDENT' || /^Plain value cannot start/.test(message)) return scanner('found character that cannot start any token');
  if (/^Missing closing/.test(message)) return scanner('found unexpected end of stream');
  if (code === 'BAD_DQ_ESCAPE') return scanner('found unknown escape character');
  if (/block-seq-ind on same line/.test(message)) return scanner('block sequence entries are not allowed in this context');
  if (/^Implicit map keys need/.test(message)) return scanner("could not find expected ':'", line + 1);
  if (/^Block scalar header/.test(message)) return scanner('did not find expected comment or line break');
  const flow = /^Flow (map|sequence) /.exec(message);
  if (flow) {
    const isEmpty = /[[{,]\s*$/.test(text.slice(0, offset));
    return parser(isEmpty ? 'did not find expected node content' : `did not find expected ',' or '${flow[1] === 'map' ? '}' : ']'}'`);
  }
  if (/^Unexpected flow-/.test(message)) return parser('did not find expected node content');
  if (/^Unexpected scalar at node end|^All mapping items|at most one anchor/.test(message)) return parser('did not find expected key');
  return scanner(message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, ''));
}

/** Keys sorted, as the reference prints. */
export const stringifyYaml = (value: object): string =>
  yaml().stringify(value, {sortMapEntries: true, lineWidth: 0, version: '1.1', aliasDuplicateObjects: false, indentSeq: false});
