import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {maxJsonDepth} from '../limits.ts';
import type {Json} from '../object.ts';
import {documentOf, duplicatesIn, parseDocument, valueOfNode} from './document.ts';
import {JsonError, parseJson} from './json.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const parse = (text: string) => parseJson(bytes(text));
const wordsOf = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return (error as Error).message;
  }
  return 'none';
};

describe('Go words for what is no JSON', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['nux', "invalid character 'x' in literal null (expecting 'l')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"a\u0001b"', "invalid character '\\x01' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ])('%j', (text, words) => {
    expect(wordsOf(text)).toBe(words);
  });

  test('depth is bounded before anything walks it', () => {
    expect(wordsOf('['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth))).toBe('none');
    expect(wordsOf('{"a":'.repeat(200_000))).toBe("invalid character '{' exceeded max depth");
    expect(JSON.stringify(parse('['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth)).value)).toHaveLength(2 * maxJsonDepth);
  });
});

describe('what is read', () => {
  test('keys that come again are named with their places, each once, in order; the last value counts', () => {
    const {value, duplicates} = parse('{"b":{"x":1,"x":2,"x":3},"a":[{"k":1,"k":{"c":1,"c":2}}],"b":4}');
    expect(duplicates).toEqual(['b.x', 'a[0].k', 'a[0].k.c', 'b']);
    expect(value).toEqual({b: 4, a: [{k: {c: 2}}]});
  });

  test('keys with a meaning in JavaScript are keys like any other', () => {
    const {value, duplicates} = parse('{"__proto__":{"polluted":true},"constructor":1,"hasOwnProperty":2,"__proto__":{"a":1}}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(duplicates).toEqual(['__proto__']);
  });

  test('each byte that is no UTF-8 becomes a replacement character', () => {
    const text = Buffer.concat([Buffer.from('"a'), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from('é"')]);
    expect(parseJson(text).value).toBe('a\ufffd\ufffd\ufffdé');
  });

  test.each([
    ['{"a":1,"b":"1.5e3"}', false],
    ['[12345,-1,0]', false],
    ['[1.0]', true],
    ['[1e3]', true],
    ['[9007199254740993]', true],
    ['[true,false,null]', false],
  ])('numbers whose spelling matters are noticed: %s %s', (text, odd) => {
    expect(parse(text).oddNumbers).toBe(odd);
  });
});

const json = fc.jsonValue() as fc.Arbitrary<Json>;
/** JSON has no negative zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('laws', () => {
  test('what the platform reads, the document reads alike', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(plain(valueOfNode(parseDocument(text)))).toEqual(JSON.parse(text));
        expect(plain(valueOfNode(documentOf(plain(value) as Json)))).toEqual(JSON.parse(text));
        expect(parse(text).duplicates).toEqual([]);
        expect(duplicatesIn(parseDocument(text))).toEqual([]);
      }),
    );
  });

  test('a text with a change somewhere is read alike by both, or refused by both', () => {
    const changed = fc.tuple(json, fc.nat(), fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '1', '.', 'e', 'x', '\\', ' '));
    fc.assert(
      fc.property(changed, ([value, at, char]) => {
        const text = JSON.stringify(value);
        const cut = at % (text.length + 1);
        const broken = text.slice(0, cut) + char + text.slice(cut);
        let expected: unknown;
        try {
          expected = JSON.parse(broken);
        } catch {
          expect(() => parseDocument(broken)).toThrow(JsonError);
          return;
        }
        expect(plain(valueOfNode(parseDocument(broken)))).toEqual(plain(expected));
      }),
    );
  });
});
