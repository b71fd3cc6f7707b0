/** The stories of testing/managed-fields.json were told to the reference; what it recorded after each step is what is expected here. */
import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {type Json, type JsonObject, type KubeObject, type ManagedFieldsEntry, parseGroupVersion} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {managerOf, updateManagedFields} from './managed-fields.ts';
import {mergePatch} from './merge-patch.ts';
import {updateScaleManagedFields} from './scale-fields.ts';

interface Step {
  manager: string;
  subresource?: string;
  /** Of the request, where it is not the objects'. */
  apiVersion?: string;
  /** managedFields as the client wrote them. */
  given?: ManagedFieldsEntry[];
  /** From the object before to the object now. */
  change: JsonObject;
  /** Absent: the entries of the step before. */
  expected?: ManagedFieldsEntry[];
}

const stories = JSON.parse(readFileSync(new URL('testing/managed-fields.json', import.meta.url), 'utf8')) as {
  fact: string;
  steps: Step[];
}[];

const typeOf = (object: KubeObject) => typeByKind({...parseGroupVersion(object.apiVersion)!, kind: object.kind});
const newest = (entries: readonly ManagedFieldsEntry[], manager: string): string =>
  entries.find((entry) => entry.manager === manager && entry.time)?.time ?? 'never';

describe('ownership as the reference records it', () => {
  test.each(stories)('$fact', ({steps}) => {
    let live: KubeObject | undefined;
    let entries: ManagedFieldsEntry[] = [];
    for (const {manager, subresource = '', apiVersion, given, change, expected} of steps) {
      const {managedFields: _none, ...metadata} = live?.metadata ?? {};
      const object = mergePatch({...live, metadata} as unknown as Json, change) as unknown as KubeObject;
      // What a client reads and writes back is the same as what it does not mention.
      object.metadata.managedFields = structuredClone(given ?? entries);
      entries = expected ?? entries;
      const update = {object, manager, subresource, apiVersion: apiVersion ?? object.apiVersion, ...(live && {live})};
      if (subresource === 'scale') updateScaleManagedFields({...update, live: live!});
      else updateManagedFields({...update, now: newest(entries, manager), type: typeOf(object)});
      expect(JSON.stringify(object.metadata.managedFields ?? [], null, 1)).toBe(JSON.stringify(entries, null, 1));
      live = object;
    }
  });
});

describe('the manager of a request without one', () => {
  test.each([
    ['kubectl/v1.36.3 (linux/amd64)', 'kubectl'],
    ['Mozilla 5.0', 'Mozilla 5.0'],
    ['a\u0000b\u200bc\u00a0d\n/x', 'abcd'],
    ['/x', 'unknown'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    ['é'.repeat(65), 'é'.repeat(64)],
    [`${'a'.repeat(127)}é`, 'a'.repeat(127)],
  ])('%j: %j', (agent, expected) => {
    expect(managerOf('', agent)).toBe(expected);
    expect(managerOf('given', agent)).toBe('given');
  });
});

describe('what a client wrote by hand never fails', () => {
  const live = (): KubeObject => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'a', uid: 'u'}, data: {k: '1'}});
  const wellFormed: ManagedFieldsEntry = {manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1'};
  const written = (entry: Record<string, unknown>): ManagedFieldsEntry[] | undefined => {
    const before = live();
    before.metadata.managedFields = [{...wellFormed, fieldsV1: {'f:data': {'f:k': {}}}}];
    const object: KubeObject = {...live(), data: {k: '2'}};
    object.metadata.managedFields = [entry as ManagedFieldsEntry];
    updateManagedFields({live: before, object, manager: 'b', subresource: '', apiVersion: 'v1', now: 'now', type: typeOf(object)});
    return object.metadata.managedFields;
  };
  const taken = [
    {manager: 'b', operation: 'Update', apiVersion: 'v1', time: 'now', fieldsType: 'FieldsV1', fieldsV1: {'f:data': {'f:k': {}}}},
  ];

  test.each([
    ['no operation', {manager: 'x', apiVersion: 'v1', fieldsType: 'FieldsV1'}],
    ['no version', {manager: 'x', operation: 'Update', fieldsType: 'FieldsV1'}],
    ['the tree of long ago', {manager: 'x', operation: 'Update', apiVersion: 'v1', fields: {'f:data': {}}}],
    ['elements that are none', {...wellFormed, manager: 'x', fieldsV1: {data: {}}}],
    ['paths without end', {...wellFormed, manager: 'x', fieldsV1: JSON.parse('{"f:a":'.repeat(5_000) + '{}' + '}'.repeat(5_000))}],
    ['keys that are none', {...wellFormed, manager: 'x', fieldsV1: {'k:[': {}}}],
  ])('%s: the stored entries count', (_fact, entry) => {
    expect(written(entry)).toEqual(taken);
  });

  test('elements of a kind to come are dropped', () => {
    expect(written({...wellFormed, manager: 'x', fieldsV1: JSON.parse('{"z:what":{},"f:data":{"f:__proto__":{}}}')})).toEqual([
      {...wellFormed, manager: 'x', fieldsV1: JSON.parse('{"f:data":{"f:__proto__":{}}}')},
      ...taken,
    ]);
  });
});
