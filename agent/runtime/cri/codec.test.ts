import {describe, expect, test} from 'vitest';
import {compile, decode, encode} from './codec.ts';

const {Outer, Inner} = compile({
  Outer:
    '1 text string,2 flag bool,3 count int64,4 names []string,5 labels {},6 inner Inner,7 inners []Inner,8 numbers []int32,9 data bytes',
  Inner: '1 value int64',
});
const {Other} = compile({Other: '1 text int64,2 flag string,99 more string'});

describe('messages by data', () => {
  test('everything comes back as it was written', () => {
    const value = {
      text: 'ä',
      flag: true,
      count: -1,
      names: ['a', ''],
      labels: {k: 'v', empty: ''},
      inner: {value: 1_700_000_000_000_000_000},
      inners: [{value: 0}, {value: 2}],
      numbers: [0, -5, 300],
      data: Uint8Array.of(0, 255),
    };
    expect(decode(Outer, encode(Outer, value))).toEqual(value);
  });

  test('what was not sent is zero, and a message that was not sent is undefined', () => {
    expect(decode(Outer, new Uint8Array())).toEqual({
      text: '',
      flag: false,
      count: 0,
      names: [],
      labels: {},
      inners: [],
      numbers: [],
      data: new Uint8Array(),
    });
    expect(encode(Inner, {value: 0})).toHaveLength(0);
  });

  test('fields of another type or an unknown number are skipped', () => {
    const bytes = encode(Other, {text: 5, flag: 'x', more: 'y'});
    expect(decode(Outer, bytes)).toMatchObject({text: '', flag: false});
  });

  test('a cut message is refused, a type that is not defined too', () => {
    const bytes = encode(Outer, {text: 'long enough'});
    expect(() => decode(Outer, bytes.subarray(0, 5))).toThrow(RangeError);
    expect(() => compile({A: '1 b Missing'})).toThrow('no type Missing');
  });
});
