import {expect, test} from 'vitest';
import {requestInfo} from './request-info.ts';
import {checkTimeout} from './request-timeout.ts';

const problemOf = (timeout: string, path = '/api/v1/pods', more: [string, string][] = []): string | undefined => {
  const query: [string, string][] = [['timeout', timeout], ...more];
  try {
    checkTimeout(requestInfo('GET', path, query), query);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const bad = 'invalid timeout specified in the request URL - time: ';

test.each(['', '0', '30s', '1h2m3.5s', '-1s', '.5s', '100ms'])('%j is a timeout', (text) => {
  expect(problemOf(text)).toBeUndefined();
});

test.each([
  ['invalid', 'invalid duration "invalid"'],
  ['1y', 'unknown unit "y" in duration "1y"'],
  ['5', 'missing unit in duration "5"'],
  ['1s5', 'missing unit in duration "1s5"'],
  ['-', 'invalid duration "-"'],
])('%j is none', (text, why) => {
  expect(problemOf(text, '/version')).toBe(bad + why);
});

test('watches and streams have none', () => {
  expect(problemOf('x', '/api/v1/pods', [['watch', '1']])).toBeUndefined();
  expect(problemOf('x', '/api/v1/namespaces/n/pods/p/log')).toBeUndefined();
});
