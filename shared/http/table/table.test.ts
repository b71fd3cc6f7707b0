import {existsSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {StatusError} from '../../errors.ts';
import {plainTable} from '../../kinds/common/columns.table.ts';
import {humanDuration} from '../../kinds/common/human-duration.ts';
import {printersFor, tables} from '../../kinds/tables.ts';
import type {KubeObject} from '../../object.ts';
import {includeObjectPolicy} from './include-object.ts';
import {type TableOptions, toTable} from './table.ts';

const everyKind = Object.entries(tables).flatMap(([group, kinds]) => Object.keys(kinds).map((kind) => ({group, kind})));
const now = Date.UTC(2026, 0, 1, 1);
const options: TableOptions = {version: 'v1', includeObject: 'Metadata', now};
const resource = (kind: string, group = '', version = 'v1') => ({kind, group, version, storage: {group, version}});
const configMap: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {name: 'a', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z'},
  data: {k: 'v'},
};
const one = (object: KubeObject, more: Partial<TableOptions> = {}) =>
  toTable({items: [object], listMeta: {resourceVersion: '7'}, resource: resource(object.kind), single: true}, {...options, ...more});

describe('a table', () => {
  test('of one object carries its version, its cells and its metadata', () => {
    expect(one(configMap)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: {resourceVersion: '7'},
      columnDefinitions: printersFor('', 'ConfigMap')!.columns,
      rows: [{cells: ['a', 1, '60m'], object: {kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: configMap.metadata}}],
    });
  });

  test('holds as much of the object as was asked for', () => {
    expect(one(configMap, {includeObject: 'None'}).rows![0]!.object).toBeNull();
    expect(one(configMap, {includeObject: 'Object'}).rows![0]!.object).toEqual(configMap);
    expect(one(configMap, {version: 'v1beta1'}).rows![0]!.object).toMatchObject({apiVersion: 'meta.k8s.io/v1beta1'});
  });

  test('of a list keeps what the list says of itself', () => {
    const listMeta = {resourceVersion: '9', continue: 'abc', remainingItemCount: 3};
    expect(toTable({items: [], listMeta, resource: resource('ConfigMap'), single: false}, options)).toMatchObject({
      metadata: listMeta,
      rows: [],
    });
  });

  test('without rows is null where the kind has no table of its own', () => {
    const table = toTable({items: [], listMeta: {}, resource: resource('LimitRange'), single: false}, options);
    expect(table).toMatchObject({columnDefinitions: plainTable.columns, rows: null});
  });

  test('of a watch leaves the columns out after the first event, but for API services', () => {
    expect(one(configMap, {omitHeaders: true}).columnDefinitions).toBeNull();
    const service = {kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1', metadata: {name: 'v1.'}};
    const input = {items: [service], listMeta: {}, resource: resource('APIService', 'apiregistration.k8s.io'), single: true};
    expect(toTable(input, {...options, omitHeaders: true}).columnDefinitions).toHaveLength(4);
  });

  test('of a scale prints the scale, whatever the resource is', () => {
    const scale = {kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {name: 'd'}, spec: {replicas: 3}, status: {replicas: 2}};
    const input = {items: [scale], listMeta: {}, resource: resource('Deployment', 'apps'), single: true};
    expect(toTable(input, options).rows![0]!.cells).toEqual(['d', 3, 2, '<unknown>']);
  });

  test('is printed from the stored objects where they are at hand', () => {
    const metric = (name: string) => ({type: 'Resource', resource: {name, target: {averageUtilization: 5}}});
    const scaler = {kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata: {name: 'h'}, spec: {maxReplicas: 3}};
    const stored = {...scaler, apiVersion: 'autoscaling/v2', spec: {maxReplicas: 3, metrics: [metric('cpu'), metric('memory')]}};
    const ofScaler = {kind: scaler.kind, group: 'autoscaling', version: 'v1', storage: {group: 'autoscaling', version: 'v2'}};
    const table = toTable({items: [scaler], stored: [stored], listMeta: {}, resource: ofScaler, single: true}, options);
    expect(table.rows![0]!.cells[2]).toBe('cpu: <unknown>/5%, memory: <unknown>/5%');
  });

  test('of a custom resource uses the columns of its definition', () => {
    expect(one({...configMap, kind: 'Foo'}, {printer: plainTable}).rows![0]!.cells).toEqual(['a', '2026-01-01T00:00:00Z']);
  });

  test('of 500 pods takes less than 10 ms', () => {
    const lines = readFileSync(new URL('./testdata/rows.jsonl', import.meta.url), 'utf8').split('\n');
    const {rows} = JSON.parse(lines.find((line) => line.startsWith('{"kind":"Pod",'))!);
    const items = Array.from({length: 500}, (_, index) => rows[index % rows.length].object as KubeObject);
    const print = () => toTable({items, listMeta: {}, resource: resource('Pod'), single: false}, options);
    print();
    const times = Array.from({length: 5}, () => {
      const start = performance.now();
      print();
      return performance.now() - start;
    });
    expect(Math.min(...times)).toBeLessThan(10);
  });
});

describe('a bookmark', () => {
  test('has a row of empty cells', () => {
    const bookmark = {kind: 'Pod', apiVersion: 'v1', metadata: {resourceVersion: '7'}};
    expect(one(bookmark).rows![0]!.cells).toEqual(['', '0/0', '', '0', '<unknown>', '<none>', '<none>', '<none>', '<none>']);
  });

  test('shows its annotation at the end of initial events even if no objects were asked for', () => {
    const metadata = {resourceVersion: '7', annotations: {'k8s.io/initial-events-end': 'true'}};
    const table = one({kind: 'LimitRange', apiVersion: 'v1', metadata}, {includeObject: 'None'});
    expect(table.rows).toEqual([
      {cells: ['', '0001-01-01T00:00:00Z'], object: {kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata}},
    ]);
  });

  test('can be printed for every kind', () => {
    for (const {group, kind} of everyKind)
      expect(printersFor(group, kind)!.cells({kind, apiVersion: 'v1', metadata: {}}, now)).not.toContain(undefined);
  });
});

describe('includeObject', () => {
  test('is metadata unless it says otherwise', () => {
    expect([undefined, '', 'None', 'Object', 'Metadata'].map(includeObjectPolicy)).toEqual([
      'Metadata',
      'Metadata',
      'None',
      'Object',
      'Metadata',
    ]);
  });

  test('is refused in the words of the reference', () => {
    expect(() => includeObjectPolicy('Foo')).toThrow(StatusError);
    expect(() => includeObjectPolicy('Foo')).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "Foo": must be 'Metadata', 'Object', 'None', or empty`,
    );
  });
});

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [-3 * second, '<invalid>'],
  [-1.5 * second, '0s'],
  [119.9 * second, '119s'],
  [2 * minute, '2m'],
  [2 * minute + second, '2m1s'],
  [10 * minute + second, '10m'],
  [3 * hour, '3h'],
  [3 * hour + minute, '3h1m'],
  [8 * hour + minute, '8h'],
  [48 * hour, '2d'],
  [49 * hour, '2d1h'],
  [8 * day + hour, '8d'],
  [730 * day, '2y'],
  [731 * day, '2y1d'],
  [8 * 365 * day + day, '8y'],
  [2026 * 365 * day, '292y'],
])('%i ms are %s', (ms, words) => {
  expect(humanDuration(ms)).toBe(words);
});

const facts = new URL('../../../../shared/facts/tables.json', import.meta.url);

describe.skipIf(!existsSync(facts))('the columns that the facts tell (skipped where ../shared is absent)', () => {
  interface Fact {
    name: string;
    type: string;
    format: string;
    priority: number;
  }
  const columns: Record<string, Fact[] | {like?: string}> = existsSync(facts) ? JSON.parse(readFileSync(facts, 'utf8')).columns : {};

  test.each(
    Object.entries(columns).filter((entry): entry is [string, Fact[]] => Array.isArray(entry[1])),
  )('are those of %s', (path, wanted) => {
    const parts = path.split('/');
    const [group, resource] = [parts.length === 3 ? parts[0]! : '', parts.at(-1)!];
    const kind = kindOf(group, resource);
    const table = kind ? printersFor(kind.group, kind.kind)! : plainTable;
    expect(table.columns.map(({description: _, ...column}) => column)).toEqual(
      wanted.map(({name, type, format, priority}) => ({name, type, format, priority})),
    );
  });
});

/** Kinds with a table, found by trying the plural. */
function kindOf(group: string, resource: string): {group: string; kind: string} | undefined {
  const stored = group === 'events.k8s.io' ? '' : group;
  return everyKind.find((each) => each.group === stored && plural(each.kind) === resource);
}

const plural = (kind: string): string => {
  const word = kind.toLowerCase();
  if (word === 'endpoints') return word;
  if (/(s|x|ch)$/.test(word)) return `${word}es`;
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
};
