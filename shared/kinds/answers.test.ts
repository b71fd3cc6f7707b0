/**
 * Answers of the reference, recorded: words that repeat, then a valid object a line, then a case a line that mutates one and names the causes
 * (none when it is accepted). What the wire facts hold of the same kind is in validation.test.ts. Cases about CEL are not here.
 */
import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import type {FieldError} from '../field-errors.ts';
import {type KubeObject, parseGroupVersion} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import {applyDefaults} from './defaults.ts';
import {strategyFor, validateForCreate, validateForUpdate} from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: recorded answers
type Loose = any;

interface Case {
  base: string;
  mode: string;
  status?: Loose;
  mutation: {op: string; path: string; value?: Loose}[];
  causes?: string[];
}

const lines: Loose[] = readFileSync(new URL('./testdata/answers.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const bases = new Map<string, Loose>(lines.filter((line) => line.object).map((line) => [line.base, line]));
const cases: Case[] = lines.filter((line) => line.mutation);

/** Long strings are written as what is repeated, and how often. */
const long = (value: Loose): Loose =>
  JSON.parse(JSON.stringify(value), (_key, item) => (item?.$repeat ? item.$repeat[0].repeat(item.$repeat[1]) : item));
/** Details that come again and again stand in the first line. */
const {texts: details}: {texts: string[]} = lines[0];
const longText = (text: string): string =>
  text
    .replace(/«(\d+)»$/, (_all, index) => details[Number(index)]!)
    .replace(/<(.)\*(\d+)>/g, (_all, letter, count) => letter.repeat(Number(count)));

function mutate(object: Loose, mutation: Case['mutation']): void {
  for (const {op, path, value} of mutation) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop()!;
    const target = keys.reduce((at, key) => at[key], object);
    if (op === 'remove') Array.isArray(target) ? target.splice(Number(last), 1) : delete target[last];
    else target[last === '-' ? target.length : last] = long(value);
  }
}

function read(body: Loose, namespaced: boolean): KubeObject {
  const object = normalize(body, {...parseGroupVersion(body.apiVersion)!, kind: body.kind});
  applyDefaults(object);
  if (namespaced) object.metadata.namespace ??= 'facts';
  object.metadata.uid ??= '5f3a';
  object.metadata.creationTimestamp ??= '2026-01-01T00:00:00Z';
  return object;
}

const contextFor = (subresource: string) => ({now: Date.UTC(2026, 0, 1), subresource, user: {name: 'admin', groups: []}});
const texts = (errors: FieldError[]): string[] => errors.map(({type, field, message}) => `${type} ${field}: ${message}`);

function causesOf({base, mode, status, mutation}: Case): string[] {
  const {path, object: valid} = bases.get(base);
  const group = path.split('/')[2];
  const namespaced = path.includes('/namespaces/');
  const strategy = strategyFor(group, valid.kind);
  if (mode === 'create') {
    const body = structuredClone(valid);
    mutate(body, mutation);
    const object = read(body, namespaced);
    strategy.prepareForCreate?.(object, contextFor(''));
    return texts(validateForCreate(strategy, object, namespaced, contextFor('')));
  }
  const context = contextFor(mode.split('-')[1] ?? '');
  const old = read(structuredClone(valid), namespaced);
  old.metadata.resourceVersion = '7';
  strategy.prepareForCreate?.(old, contextFor(''));
  const body: Loose = structuredClone(old);
  if (status) body.status = structuredClone(status);
  mutate(body, mutation);
  const object = read(body, namespaced);
  strategy.prepareForUpdate?.(object, old, context);
  return texts(validateForUpdate(strategy, object, old, namespaced, context));
}

const kinds = new Set([...bases.values()].map(({object}) => object.kind));

describe.each([...kinds])('%s', (kind) => {
  const own = cases.filter(({base}) => bases.get(base).object.kind === kind);
  test.each(
    own.map((each) => [`${each.base} ${each.mode} ${JSON.stringify(each.mutation).slice(0, 100)}`, each] as const),
  )('%s', (_title, each) => {
    expect(causesOf(each)).toEqual((each.causes ?? []).map(longText));
  });
});
