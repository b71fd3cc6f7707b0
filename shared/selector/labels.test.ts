import {describe, expect, test} from 'vitest';
import {labelMatcher, parseLabelSelector, printLabelSelector, requirementsOf, selectorFromObject} from './labels.ts';

const matches = (selector: string, labels: Record<string, string>) => labelMatcher(parseLabelSelector(selector))(labels);

const labelKeyWords =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueWords =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

describe('what a label selector selects', () => {
  test.each([
    ['', {}, true],
    ['a=b', {a: 'b'}, true],
    ['a==b', {a: 'c'}, false],
    ['a!=b', {}, true],
    ['a!=b', {a: 'b'}, false],
    ['a in (b, c)', {a: 'c'}, true],
    ['a in (b,c)', {}, false],
    ['a in ()', {a: ''}, true],
    ['a in (,)', {a: ''}, true],
    ['a in (b,,c)', {a: ''}, true],
    ['a notin(b)', {}, true],
    ['a notin (b,c)', {a: 'b'}, false],
    ['a', {a: ''}, true],
    ['! a', {a: ''}, false],
    ['a>3', {a: '5'}, true],
    ['a>3', {a: 'five'}, false],
    ['a < 9223372036854775807', {a: '9223372036854775806'}, true],
    ['a>3', {}, false],
    ['in in (in, notin)', {in: 'notin'}, true],
    ['notin', {notin: 'x'}, true],
    ['a=', {a: ''}, true],
    ['a=,b=c,d', {a: '', b: 'c', d: ''}, true],
    ['a=,b=c,d', {a: '', b: 'c'}, false],
    ['constructor', {}, false],
    ['toString!=x', {}, true],
  ] as [string, Record<string, string>, boolean][])('%j over %j: %s', (selector, labels, expected) => {
    expect(matches(selector, labels)).toBe(expected);
  });
});

describe('what does not parse is refused in the words of the reference', () => {
  test.each([
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['!a in (b)', "found 'in', expected: ',' or 'end of string'"],
    ['a!b', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ['a > b', "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer"],
    ['a >', "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer"],
    ['a=b$', `unable to parse requirement: values[0][a]: Invalid value: "b$": ${labelValueWords}`],
    ['a in (c,b$)', `unable to parse requirement: values[0][a]: Invalid value: "b$": ${labelValueWords}`],
    ['a==!', "unable to parse requirement: found '!', expected: identifier"],
    ['_a=1', `unable to parse requirement: <nil>: Invalid value: "_a": ${labelKeyWords}`],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['(a)', "found '(', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a in ((', "unable to parse requirement: found '(', expected: ',', ')' or identifier"],
    ['a<>b', "unable to parse requirement: found '>', expected: identifier"],
    ['/a', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
    [
      'a>9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [`x=${'a'.repeat(64)}`, `unable to parse requirement: values[0][x]: Invalid value: "${'a'.repeat(64)}": must be no more than 63 bytes`],
  ])('%s', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({message, reason: 'BadRequest'}));
  });
});

test('the canonical form is sorted and has one spelling', () => {
  expect(printLabelSelector(parseLabelSelector('z , !y, x notin(b,a),c>1,d==e, f = g'))).toBe('c>1,d==e,f=g,x notin (a,b),!y,z');
});

describe('selectors in specs', () => {
  test('both halves must hold', () => {
    const selector = {matchLabels: {a: 'b'}, matchExpressions: [{key: 'c', operator: 'NotIn', values: ['d']}]};
    expect(selectorFromObject(selector)({a: 'b'})).toBe(true);
    expect(selectorFromObject(selector)({a: 'b', c: 'd'})).toBe(false);
    expect(printLabelSelector(requirementsOf(selector))).toBe('a=b,c notin (d)');
  });
  test('the empty one selects all, an absent or invalid one nothing', () => {
    expect(selectorFromObject({})({})).toBe(true);
    expect(selectorFromObject(undefined)({})).toBe(false);
    expect(selectorFromObject({matchExpressions: [{key: 'a', operator: 'constructor'}]})({a: ''})).toBe(false);
    expect(() => requirementsOf({matchExpressions: [{key: 'a', operator: 'Near'}]})).toThrow(
      '"Near" is not a valid label selector operator',
    );
  });
});
