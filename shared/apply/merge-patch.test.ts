import {describe, expect, test} from 'vitest';
import type {Json} from '../object.ts';
import {mergePatch, parseMergePatch} from './merge-patch.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test.each<[string, Json, Json, Json]>([
  ['null removes', {a: 1, b: 2}, {a: null}, {b: 2}],
  ['null removes nothing where nothing is', {a: 1}, {b: null}, {a: 1}],
  ['objects merge', {a: {b: 1}}, {a: {c: 2}}, {a: {b: 1, c: 2}}],
  ['lists are replaced', {a: [1, 2]}, {a: [3]}, {a: [3]}],
  ['what is new holds no nulls', {}, {a: {b: null, c: [{d: null}, null]}}, {a: {c: [{}, null]}}],
  ['an object in place of a list', {a: [1]}, {a: {b: null, c: 1}}, {a: {c: 1}}],
  ['a scalar in place of an object', {a: {b: 1}}, {a: 'x'}, {a: 'x'}],
  ['an object in place of null', {a: null}, {a: {b: 1}}, {a: {b: 1}}],
  ['a list in place of the document, verbatim', {a: 1}, [{b: null}], [{b: null}]],
])('%s', (_fact, target, patch, expected) => {
  const before = JSON.stringify([target, patch]);
  expect(mergePatch(target, patch)).toEqual(expected);
  expect(JSON.stringify([target, patch])).toBe(before);
});

test('members are sorted where the patch went, as a refusal quotes them', () => {
  expect(JSON.stringify(mergePatch({c: {y: 1, x: 2}, b: {y: 1, x: 2}}, {b: {z: 1}, a: {n: 1, m: 2}}))).toBe(
    '{"a":{"m":2,"n":1},"b":{"x":2,"y":1,"z":1},"c":{"y":1,"x":2}}',
  );
});

test('prototypes are members like any other', () => {
  const merged = mergePatch({a: 1}, JSON.parse('{"__proto__":{"polluted":1}}'));
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":1},"a":1}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

describe('bodies that are no patch', () => {
  test.each([
    ['[]', true, 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['"x"', true, 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    ['true', true, 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}'],
    ['null', true, 'Invalid JSON Patch'],
    ['{', true, 'error decoding patch: unexpected end of JSON input'],
    ['{}x', true, "error decoding patch: invalid character 'x' after top-level value"],
    ['{', false, 'Invalid JSON Patch'],
    ['null', false, 'Invalid JSON Patch'],
    ['"x"', false, 'Invalid JSON Patch'],
  ])('%s (strict: %s)', (body, strict, message) => {
    expect(() => parseMergePatch(bytes(body), strict)).toThrow(expect.objectContaining({reason: 'BadRequest', message}));
  });

  test('doubled keys are said in the words of strict decoding', () => {
    expect(parseMergePatch(bytes('{"data":{"k":"1","k":"2"}}'), true)).toEqual({
      patch: {data: {k: '2'}},
      strictErrors: ['duplicate field "data.k"'],
    });
  });
});
