import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../../object.ts';
import {strategyFor, validateForCreate, validateForUpdate} from '../index.ts';

const context = {now: Date.UTC(2026, 0, 1), subresource: '', user: {name: 'alice', groups: []}};
const configMap = (metadata: KubeObject['metadata']): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {namespace: 'n', ...metadata},
});
const create = (metadata: KubeObject['metadata']): string[] =>
  validateForCreate(strategyFor('', 'ConfigMap'), configMap(metadata), true, context).map(({field, message}) => `${field}: ${message}`);
const update = (metadata: KubeObject['metadata'], old: KubeObject['metadata']): string[] =>
  validateForUpdate(
    strategyFor('', 'ConfigMap'),
    configMap({name: 'a', resourceVersion: '7', uid: 'u', ...metadata}),
    configMap({name: 'a', resourceVersion: '7', uid: 'u', ...old}),
    true,
    context,
  ).map(({field, message}) => `${field}: ${message}`);

describe('metadata of a new object', () => {
  test('a plain name is fine, and so is one with dots', () => {
    expect(create({name: 'a'})).toEqual([]);
    expect(create({name: 'a.b.c'})).toEqual([]);
  });
  test('a name is required', () => expect(create({})).toEqual(['metadata.name: Required value: name or generateName is required']));
  test('a finalizer without a domain must be a known one', () => {
    expect(create({name: 'a', finalizers: ['orphan', 'x.io/f']})).toEqual([]);
    expect(create({name: 'a', finalizers: ['nope']})).toEqual([
      'metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
  test('annotations are bounded together', () =>
    expect(create({name: 'a', annotations: {k: 'x'.repeat(256 * 1024)}})).toEqual([
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]));
  test('an event owns nothing', () =>
    expect(create({name: 'a', ownerReferences: [{apiVersion: 'v1', kind: 'Event', name: 'p', uid: 'u'}]})).toEqual([
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ]));
});

describe('metadata of an update', () => {
  test('a bad label is named once for every pass that looks at it', () => expect(update({labels: {'a b': 'c'}}, {})).toHaveLength(4));
  test('identity does not change', () =>
    expect(new Set(update({uid: 'other'}, {}))).toEqual(new Set(['metadata.uid: Invalid value: "other": field is immutable'])));
  test('no new finalizers while it is being deleted', () => {
    const deleting = {deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.io/f']};
    expect(update({...deleting, finalizers: []}, deleting)).toEqual([]);
    expect(update({...deleting, finalizers: ['x.io/f', 'x.io/g']}, deleting)[0]).toBe(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/g"}',
    );
  });
});
