import {expect, test} from 'vitest';
import type {Json} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {restoreRefusal} from './restore.ts';

const configMap = typeByKind({group: '', version: 'v1', kind: 'ConfigMap'})!;
const pod = typeByKind({group: '', version: 'v1', kind: 'Pod'})!;

test.each<[Json, string | undefined]>([
  [{data: {a: 'x'}, immutable: true}, undefined],
  [{data: {a: null}}, undefined],
  [{unknown: 3}, undefined],
  [{data: {a: 1}}, 'cannot convert int64 to string'],
  [{data: {a: 1.5}}, 'unrecognized type: string'],
  [{data: {a: true}}, 'unrecognized type: string'],
  [{data: {a: {}}}, 'unrecognized type: string'],
  [{data: ['a']}, 'cannot restore map from slice'],
  [{data: 3}, 'cannot restore map from int64'],
  [{immutable: 'x'}, 'unrecognized type: bool'],
  [{immutable: 1}, 'unrecognized type: bool'],
  [{binaryData: {a: 3}}, 'cannot restore slice from int64'],
  [{metadata: 'x'}, 'cannot restore struct from: string'],
  [{metadata: [1]}, 'cannot restore struct from: slice'],
  [{metadata: {deletionGracePeriodSeconds: 1.5}}, 'cannot convert float64 to int64'],
  [{metadata: {deletionGracePeriodSeconds: '1'}}, 'unrecognized type: int64'],
  [{metadata: {deletionGracePeriodSeconds: 2.0}}, undefined],
  [{metadata: {finalizers: 'x'}}, 'cannot restore slice from string'],
  [{metadata: {managedFields: [{operation: 3}]}}, 'cannot convert int64 to v1.ManagedFieldsOperationType'],
])('%j: %s', (object, refusal) => {
  expect(restoreRefusal(object, configMap)).toBe(refusal);
});

test('what has a JSON of its own is left to decoding', () => {
  expect(restoreRefusal({spec: {containers: [{resources: {limits: {cpu: true}}}]}}, pod)).toBeUndefined();
  expect(restoreRefusal({spec: {restartPolicy: 3}}, pod)).toBe('cannot convert int64 to v1.RestartPolicy');
});
