import {describe, expect, test} from 'vitest';
import type {Json} from '../object.ts';
import {jsonPatch, type Operation, parseJsonPatchBody} from './json-patch.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const stored = {kind: 'ConfigMap', metadata: {name: 'p', finalizers: ['1', '2', '3']}, data: {k: 'v', 'a.b': 'x'}};
const patched = (...operations: Operation[]) => jsonPatch(stored, operations) as typeof stored & Record<string, Json>;

describe('positions in lists', () => {
  test.each([
    ['-', ['1', '2', '3', '9']],
    ['0', ['9', '1', '2', '3']],
    ['3', ['1', '2', '3', '9']],
    ['-1', ['1', '2', '3', '9']],
    ['-4', ['9', '1', '2', '3']],
    ['+1', ['1', '9', '2', '3']],
    ['01', ['1', '9', '2', '3']],
  ])('add at %s', (at, expected) => {
    expect(patched({op: 'add', path: `/metadata/finalizers/${at}`, value: '9'}).metadata.finalizers).toEqual(expected);
  });

  test.each(['4', '-5', 'x', '', '1.0'])('nothing can be added at %j', (at) => {
    expect(() => patched({op: 'add', path: `/metadata/finalizers/${at}`, value: '9'})).toThrow(
      expect.objectContaining({reason: 'Invalid', message: 'the server rejected our request due to an error in our request'}),
    );
  });

  test.each([
    ['remove', '-1', ['1', '2']],
    ['remove', '0', ['2', '3']],
    ['replace', '2', ['1', '2', '9']],
  ])('%s at %s', (op, at, expected) => {
    expect(patched({op, path: `/metadata/finalizers/${at}`, value: '9'}).metadata.finalizers).toEqual(expected);
  });
});

describe('what the reference lets pass', () => {
  test.each<[string, Operation, Json]>([
    ['replace adds a member that is not there', {op: 'replace', path: '/data/nope', value: 'x'}, {k: 'v', 'a.b': 'x', nope: 'x'}],
    ['no value is null', {op: 'add', path: '/data/k'}, {k: null, 'a.b': 'x'}],
    ['a copy of nothing is null', {op: 'copy', from: '/data/nope', path: '/data/z'}, {k: 'v', 'a.b': 'x', z: null}],
    ['nothing equals null', {op: 'test', path: '/data/nope'}, {k: 'v', 'a.b': 'x'}],
    ['what stands before the first slash', {op: 'remove', path: 'x/data/k'}, {'a.b': 'x'}],
    ['escapes, known and unknown', {op: 'add', path: '/data/a~0b~1c~2', value: '1'}, {k: 'v', 'a.b': 'x', 'a~b/c~2': '1'}],
    ['an empty name', {op: 'add', path: '/data/', value: '1'}, {k: 'v', 'a.b': 'x', '': '1'}],
    ['members in any order are equal', {op: 'test', path: '/data', value: {'a.b': 'x', k: 'v'}}, {k: 'v', 'a.b': 'x'}],
  ])('%s', (_fact, operation, data) => {
    expect(patched(operation).data).toEqual(data);
  });

  test('a whole document in place of the old one', () => {
    expect(patched({op: 'replace', path: '', value: {data: {z: '1'}}})).toEqual({data: {z: '1'}});
    expect(patched({op: 'replace', path: '', value: []})).toEqual([]);
  });

  test('a move to the end', () => {
    expect(patched({op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/-'}).metadata.finalizers).toEqual([
      '2',
      '3',
      '1',
    ]);
  });
});

test.each<[string, Operation]>([
  ['removing what is not there', {op: 'remove', path: '/data/nope'}],
  ['removing everything', {op: 'remove', path: ''}],
  ['adding everything', {op: 'add', path: '', value: {}}],
  ['a path without a slash', {op: 'add', path: 'data', value: {}}],
  ['a parent that is not there', {op: 'replace', path: '/nope/x', value: '1'}],
  ['a parent that holds nothing', {op: 'add', path: '/data/k/x', value: '1'}],
  ['a scalar for a document', {op: 'replace', path: '', value: 3}],
  ['null for a document', {op: 'replace', path: '', value: null}],
  ['nothing for a document', {op: 'replace', path: ''}],
  ['a test that fails', {op: 'test', path: '/data/k', value: 'w'}],
  ['a test against nothing', {op: 'test', path: '/data/k'}],
  ['a list that goes on', {op: 'test', path: '/metadata/finalizers', value: ['1', '2']}],
  ['an object of more members', {op: 'test', path: '', value: {}}],
  ['moving into what was moved', {op: 'move', from: '/data', path: '/data/z'}],
  ['no from', {op: 'copy', path: '/data/z'}],
  ['an operation that does not exist', {op: 'explode', path: '/data/z'}],
  ['no operation', {path: '/data/z'}],
  ['no path', {op: 'add', value: 'x'}],
])('refused with 422: %s', (_fact, operation) => {
  expect(() => patched(operation)).toThrow(expect.objectContaining({reason: 'Invalid'}));
});

describe('bodies that are no patch', () => {
  test.each([
    ['{}', true, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['"x"', true, 'error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
    ['[3]', true, 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    ['[{"op":3}]', true, 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
    [
      '[{"op":"copy","from":{}}]',
      true,
      'error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.from of type string',
    ],
    ['op: add', true, "error decoding patch: invalid character 'o' looking for beginning of value"],
    ['[', true, 'error decoding patch: unexpected end of JSON input'],
    ['{}', false, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['[3]', false, 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
    ['[', false, 'unexpected end of JSON input'],
  ])('%s (strict: %s)', (body, strict, message) => {
    expect(() => parseJsonPatchBody(bytes(body), strict)).toThrow(expect.objectContaining({reason: 'BadRequest', message}));
  });

  test('none at all is a patch that changes nothing', () => {
    expect(jsonPatch(stored, parseJsonPatchBody(bytes('null'), true).operations)).toEqual(stored);
    expect(() => jsonPatch(stored, parseJsonPatchBody(bytes('[null]'), true).operations)).toThrow();
  });

  test('what strict decoding would refuse is said in its words', () => {
    const body = '[{"op":"add","op":"add","path":"/data/z","value":"1","foo":"x"}]';
    expect(parseJsonPatchBody(bytes(body), true).strictErrors).toEqual([
      'json patch duplicate field "[0].op"',
      'json patch unknown field "[0].foo"',
    ]);
    expect(parseJsonPatchBody(bytes(body), false).strictErrors).toEqual([]);
  });

  test('too many operations are too large', () => {
    const body = JSON.stringify(new Array(10_001).fill({op: 'test', path: '/x'}));
    expect(() => parseJsonPatchBody(bytes(body), true)).toThrow(
      expect.objectContaining({
        reason: 'RequestEntityTooLarge',
        message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    );
  });
});

describe('a small patch cannot ask for much', () => {
  const doubling = (times: number): Operation[] =>
    Array.from({length: times}, (_, at) => ({op: 'copy', from: '/data', path: `/data/x${at}`}));

  test('copies that double are stopped', () => {
    expect(() => patched(...doubling(40))).toThrow(expect.objectContaining({reason: 'Invalid'}));
    expect(Object.keys(patched(...doubling(3)).data)).toHaveLength(5);
  });

  test('insertions at the head of a long list are stopped', () => {
    const operations: Operation[] = [{op: 'add', path: '/x', value: new Array(500_000).fill(0)}];
    for (let count = 0; count < 1_000; count++) operations.push({op: 'add', path: '/x/0', value: 1});
    expect(() => patched(...operations)).toThrow(expect.objectContaining({reason: 'Invalid'}));
  });

  test('depth is refused before anything walks it', () => {
    const deep = `[{"op":"add","path":"/x","value":${'['.repeat(5_000)}${']'.repeat(5_000)}}]`;
    expect(() => parseJsonPatchBody(bytes(deep), true)).toThrow(
      expect.objectContaining({message: "error decoding patch: invalid character '[' exceeded max depth"}),
    );
  });

  test('prototypes are members like any other', () => {
    const operations = JSON.parse(
      '[{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/__proto__/more","value":1}]',
    );
    const result = jsonPatch(stored, operations) as object;
    expect(JSON.stringify(result)).toContain('"__proto__":{"more":1,"polluted":1}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(() => patched({op: 'add', path: '/constructor/prototype/x', value: 1})).toThrow();
  });
});

test('neither the document nor the patch is changed, and the result shows what was gone through in order', () => {
  const before = JSON.stringify(stored);
  const operations: Operation[] = [
    {op: 'add', path: '/data/l', value: ['a']},
    {op: 'add', path: '/data/l/-', value: 'b'},
  ];
  const given = JSON.stringify(operations);
  expect(JSON.stringify(jsonPatch(stored, operations))).toBe(
    '{"data":{"a.b":"x","k":"v","l":["a","b"]},"kind":"ConfigMap","metadata":{"name":"p","finalizers":["1","2","3"]}}',
  );
  expect([JSON.stringify(stored), JSON.stringify(operations)]).toEqual([before, given]);
});
