import {describe, expect, test} from 'vitest';
import {FieldSet} from './field-set.ts';
import {compareElements, keyElement, parseElement, valueElement} from './path-element.ts';

const set = (json: string) => FieldSet.fromJson(JSON.parse(json));
const text = (fields: FieldSet) => JSON.stringify(fields.toJson());

const a = '{"f:m":{".":{},"f:x":{},"f:y":{}},"f:n":{}}';
const b = '{"f:m":{"f:y":{},"f:z":{}},"f:o":{}}';

describe('the algebra', () => {
  test.each([
    ['union', set(a).union(set(b)), '{"f:m":{".":{},"f:x":{},"f:y":{},"f:z":{}},"f:n":{},"f:o":{}}'],
    ['intersection', set(a).intersection(set(b)), '{"f:m":{"f:y":{}}}'],
    ['difference', set(a).difference(set(b)), '{"f:m":{".":{},"f:x":{}},"f:n":{}}'],
    ['difference, the other way', set(b).difference(set(a)), '{"f:m":{"f:z":{}},"f:o":{}}'],
    ['a place that goes leaves what is below it', set(a).difference(set('{"f:m":{}}')), '{"f:m":{"f:x":{},"f:y":{}},"f:n":{}}'],
    ['a tree that goes takes what is below it', set(a).withoutTrees(set('{"f:m":{}}')), '{"f:n":{}}'],
    ['paths', FieldSet.ofPaths([['m', 'x'], ['n']]), '{"f:m":{"f:x":{}},"f:n":{}}'],
  ])('%s', (_name, fields, expected) => {
    expect(text(fields)).toBe(expected);
  });

  test('laws', () => {
    const sets = [a, b, '{}', '{"f:m":{}}', '{"f:m":{".":{},"k:{\\"name\\":\\"c\\"}":{".":{},"f:x":{}}}}'].map(set);
    for (const one of sets)
      for (const other of sets) {
        expect(one.union(other).equals(other.union(one))).toBe(true);
        expect(one.intersection(other).equals(other.intersection(one))).toBe(true);
        expect(one.difference(other).intersection(other).isEmpty).toBe(true);
        expect(one.difference(other).union(one.intersection(other)).equals(one)).toBe(true);
        expect(set(text(one)).equals(one)).toBe(true);
      }
  });

  test('what touches nothing makes no new set', () => {
    const fields = set(a);
    expect(fields.difference(set('{"f:q":{},"f:m":{"f:q":{}}}'))).toBe(fields);
    expect(fields.has(['f:m', 'f:x'])).toBe(true);
    expect(set(b).has(['f:m'])).toBe(false);
  });
});

describe('elements', () => {
  test('stand in the order of what they hold, numbers as numbers', () => {
    const elements = [
      'i:10',
      'i:9',
      'v:"b"',
      'v:10',
      'v:9',
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":8080,"protocol":"TCP"}',
      'k:{"port":443,"protocol":"TCP"}',
      'k:{"port":80,"protocol":"SCTP"}',
      'k:{"port":80}',
      'f:b',
      'f:a',
    ];
    expect(elements.sort(compareElements)).toEqual([
      'f:a',
      'f:b',
      'k:{"port":80}',
      'k:{"port":80,"protocol":"SCTP"}',
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":443,"protocol":"TCP"}',
      'k:{"port":8080,"protocol":"TCP"}',
      'v:9',
      'v:10',
      'v:"b"',
      'i:9',
      'i:10',
    ]);
  });

  test('have one spelling', () => {
    expect(keyElement({protocol: 'TCP', port: 80})).toBe('k:{"port":80,"protocol":"TCP"}');
    expect(parseElement('k:{"protocol":"TCP", "port":80}')).toBe('k:{"port":80,"protocol":"TCP"}');
    expect(valueElement('<a&b>')).toBe('v:"\\u003ca\\u0026b\\u003e"');
    expect(parseElement('z:?')).toBeUndefined();
    for (const bad of ['', 'f', 'fx', 'k:3', 'v:', 'i:x']) expect(() => parseElement(bad)).toThrow(SyntaxError);
  });
});
