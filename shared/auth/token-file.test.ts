import {describe, expect, test} from 'vitest';
import {parseTokenFile} from './token-file.ts';

describe('the token file', () => {
  test('holds a token, a name, a uid and groups in each line', () => {
    const text = 'tok,admin,1,system:masters\r\n\nother,bob,2\n"quo""ted",jane,3,"devs,ops"\n"multi\nline",x,';
    expect([...parseTokenFile(text)]).toEqual([
      ['tok', {name: 'admin', uid: '1', groups: ['system:masters']}],
      ['other', {name: 'bob', uid: '2', groups: []}],
      ['quo"ted', {name: 'jane', uid: '3', groups: ['devs', 'ops']}],
      ['multi\nline', {name: 'x', groups: []}],
    ]);
  });

  test('a column that is there and empty is one group without a name', () => {
    expect(parseTokenFile('t,bob,2,').get('t')).toEqual({name: 'bob', uid: '2', groups: ['']});
  });

  test('too few columns are an error', () => {
    expect(() => parseTokenFile('a,b,c\nd,e\n', '/etc/tokens')).toThrow(
      "token file '/etc/tokens' must have at least 3 columns (token, user name, user uid), found 2",
    );
  });

  test.each([
    ['a,b"c,d', 'parse error on line 1, column 4: bare " in non-quoted field'],
    ['x,y,z\n"a"b,c,d', 'parse error on line 2, column 3: extraneous or missing " in quoted-field'],
    ['"a', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'],
  ])('%j is no CSV', (text, why) => {
    expect(() => parseTokenFile(text)).toThrow(why);
  });

  test('empty and repeated tokens are warned of', () => {
    const warnings: string[] = [];
    const tokens = parseTokenFile(',a,1\nt,b,2\nt,c,3', 'f', (text) => warnings.push(text));
    expect(tokens.get('t')).toMatchObject({name: 'c'});
    expect(tokens.size).toBe(1);
    expect(warnings).toEqual([
      "empty token has been found in token file 'f', record number '1'",
      "duplicate token has been found in token file 'f', record number '3'",
    ]);
  });
});
