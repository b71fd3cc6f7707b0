import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Json} from '../object.ts';
import {JsonError} from './json.ts';
import {parseYaml, stringifyYaml} from './yaml.ts';

interface Recorded {
  yaml: string;
  value?: Json;
  fault?: string;
  duplicates?: string;
}

/** What the reference's own library made of these texts. */
const recorded: Recorded[] = readFileSync(new URL('testdata/yaml.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const parse = (text: string) => parseYaml(Buffer.from(text));

test('words, numbers, merges, anchors and faults are those of the reference', () => {
  const differing = recorded.filter(({yaml, value, fault, duplicates}) => {
    try {
      const parsed = parse(yaml);
      const same = fault === undefined && parsed.duplicates.join() === (duplicates ?? '');
      expect(parsed.value).toEqual(value);
      return !same;
    } catch (error) {
      return !(error instanceof JsonError) || error.message !== fault;
    }
  });
  expect(differing).toEqual([]);
});

describe('bounds', () => {
  test('a small text that stands for a huge document is refused', () => {
    const layers = Array.from({length: 9}, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`);
    expect(() => parse(`a0: &a0 [x, x, x]\n${layers.join('\n')}\n`)).toThrow('yaml: document contains excessive aliasing');
  });

  test('so is one that contains itself, as a list, as a map, or by merging', () => {
    expect(() => parse('a: &x [*x]\n')).toThrow("yaml: anchor 'x' value contains itself");
    expect(() => parse('a: &x {b: *x}\n')).toThrow("yaml: anchor 'x' value contains itself");
    expect(() => parse('a: &x\n  <<: *x\n')).toThrow("yaml: anchor 'x' value contains itself");
  });

  test('and one that is too deep', () => {
    expect(() => parse('['.repeat(100_000))).toThrow(JsonError);
    expect(() => parse('- '.repeat(5_000))).toThrow(JsonError);
  });
});

test('any text is a document or refused', () => {
  fc.assert(
    fc.property(fc.string({unit: fc.constantFrom(...'ab1:-?[]{},&*!|>\'"%@#~<= \n\t\\')}), (text) => {
      try {
        parse(text);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonError);
      }
    }),
  );
});

test('what is printed reads back', () => {
  const value = {b: [1, 'x', null, {c: true}], a: {'1': 'yes', no: '12:30', t: '2020-01-01', e: ''}, z: 'a\nb\n'};
  expect(parse(stringifyYaml(value)).value).toEqual(value);
  expect(stringifyYaml(value).indexOf('a:')).toBe(0);
});
