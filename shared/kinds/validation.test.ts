/**
 * The reference's own answers as cases: each mutates a valid object and names the causes. The facts live beside the project, not in it;
 * without them, or
 * while defaults are not filled in, the suite says so and skips.
 */
import {existsSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {convert} from '../convert/convert.ts';
import {type KubeObject, parseGroupVersion} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import {applyDefaults} from './defaults.ts';
import {strategyFor, validateForCreate, validateForUpdate} from './index.ts';

const facts = new URL('../../../shared/facts/', import.meta.url);
const present = existsSync(facts);

// biome-ignore lint/suspicious/noExplicitAny: recorded answers
type Loose = any;

const readJson = (name: string): Loose => JSON.parse(readFileSync(new URL(name, facts), 'utf8'));
const cases: Loose[] = present
  ? readFileSync(new URL('validation.jsonl', facts), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : [];
const bases: Record<string, Loose> = present ? readJson('valid-objects.json') : {};

const groupOf = (path: string): string => (path.startsWith('/api/') ? '' : path.split('/')[2]!);

const expand = (value: Loose): Loose => {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== 'object' || value === null) return value;
  if (value.$repeat) return value.$repeat[0].repeat(value.$repeat[1]);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item)]));
};

const steps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function patch(object: Loose, operations: Loose[]): void {
  for (const {op, path, value} of operations) {
    const keys = steps(path);
    const last = keys.pop()!;
    let target = object;
    for (const key of keys) target = target[key] ??= {};
    if (Array.isArray(target)) {
      const index = last === '-' ? target.length : Number(last);
      if (op === 'add') target.splice(index, 0, expand(value));
      else if (op === 'remove') target.splice(index, 1);
      else target[index] = expand(value);
    } else if (op === 'remove') delete target[last];
    else target[last] = expand(value);
  }
}

const context = (subresource = '') => ({now: Date.UTC(2026, 0, 1), subresource, user: {name: 'admin', groups: []}});

/** Bodies are read, defaulted and converted as those of requests are. */
const gvk = (apiVersion: string, kind: string) => ({...parseGroupVersion(apiVersion)!, kind});
const read = (body: Loose, path: string): KubeObject => {
  const object = normalize(body, gvk(body.apiVersion, body.kind));
  applyDefaults(object);
  return groupOf(path) === 'events.k8s.io' ? convert(object, {group: '', version: 'v1'}) : object;
};
const written = (object: KubeObject, path: string): KubeObject =>
  groupOf(path) === 'events.k8s.io' ? convert(object, {group: 'events.k8s.io', version: 'v1'}) : object;

function causesOf(entry: Loose): string[] {
  const {path, object: valid} = bases[entry.base];
  const group = groupOf(path);
  const strategy = strategyFor(group, valid.kind);
  const namespaced = path.includes('/namespaces/');
  const prepare = (body: Loose): KubeObject => {
    const object = read(body, path);
    if (namespaced) object.metadata.namespace ??= 'facts';
    object.metadata.uid ??= '5f3a';
    object.metadata.creationTimestamp ??= '2026-01-01T00:00:00Z';
    // Admission names the account before objects are judged.
    if (object.kind === 'Pod' && object.spec) object.spec.serviceAccountName ??= 'default';
    // Managed fields are the server's: see apply/managed-fields.ts.
    delete object.metadata.managedFields;
    return object;
  };
  if (entry.mode === 'create') {
    const body = structuredClone(valid);
    patch(body, entry.mutation);
    const object = prepare(body);
    if (object.metadata.generateName && !object.metadata.name) object.metadata.name = `${object.metadata.generateName}qxhtd`;
    strategy.prepareForCreate?.(object, context());
    return texts(validateForCreate(strategy, object, namespaced, context()));
  }
  const subresource = entry.mode.split('-')[1] ?? '';
  const old = prepare(structuredClone(valid));
  old.metadata.name = `${old.metadata.name}-u`;
  old.metadata.resourceVersion = '7';
  strategy.prepareForCreate?.(old, context());
  if (old.kind === 'Pod') old.spec.tolerations = [...(old.spec.tolerations ?? []), {key: 'a', operator: 'Exists'}];
  const body = structuredClone(written(structuredClone(old), path));
  patch(body, entry.mutation);
  const object = prepare(body);
  object.metadata.creationTimestamp = old.metadata.creationTimestamp!;
  strategy.prepareForUpdate?.(object, old, context(subresource));
  return texts(validateForUpdate(strategy, object, old, namespaced, context(subresource)));
}

const texts = (errors: {type: string; field: string; message: string}[]): string[] =>
  errors.map(({type, field, message}) => `${type} ${field}: ${message}`);

/** Where the reference prints its own representation, only what stands before it is compared. */
const head = (text: string): string =>
  text
    .split('\n')[0]!
    .replace(/<(.)\*(\d+)>/g, (_all, letter: string, count: string) => letter.repeat(Number(count)))
    .replace(/(spec\.template: Invalid value: \{).*$/, '$1')
    // An emptied map or list is absent once an object is read.
    .replace(/Invalid value: (\{\}|\[\]): (`selector`|either)/, 'Invalid value: null: $2');

/** Expressions are compiled once there is a compiler. */
const needsCel = (entry: Loose): boolean =>
  (entry.causes ?? []).some(({message}: Loose) => /compilation failed|must evaluate to/.test(message));

const relevant = cases.filter(
  (entry) =>
    entry.base &&
    strategyFor(groupOf(bases[entry.base].path), bases[entry.base].object.kind).validate &&
    entry.mutation &&
    (entry.mode === 'create' || entry.mode.startsWith('update')) &&
    (entry.code === 422 || entry.code === 201 || entry.code === 200) &&
    !entry.message?.includes('not configured'),
);

const sample: Loose = {apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {containers: []}};
applyDefaults(sample);
const defaulted = sample.spec.dnsPolicy !== undefined;

describe.skipIf(!present || !defaulted)('validation as the reference does it (facts)', () => {
  for (const entry of relevant)
    (needsCel(entry) ? test.skip : test)(needsCel(entry) ? `${entry.id} (expressions are not judged yet)` : entry.id, () => {
      const expected = (entry.causes ?? []).map(({reason, field, message}: Loose) => head(`${reason} ${field}: ${message}`));
      expect(causesOf(entry).map(head).join('\n')).toBe(expected.join('\n'));
    });
});
if (!present) test.skip('facts are absent (../shared/facts): validation is not compared with the reference', () => {});
else if (!defaulted) test.skip('defaults are not filled in: validation is not compared with the reference', () => {});
