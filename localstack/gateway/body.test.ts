import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {parseQuery, parseTarget} from '../../shared/http/target.ts';
import {BodyBudget, type Collected, collectBody} from './body.ts';

const collect = (source: PassThrough, budget: BodyBudget, limit: number): Promise<Collected> =>
  new Promise((resolve) => collectBody(source, budget, resolve, limit));

test('a body comes back whole, and gives back what it held', async () => {
  const [source, budget] = [new PassThrough(), new BodyBudget()];
  const body = collect(source, budget, 10);
  source.write('abc');
  source.end('def');
  expect(Buffer.from((await body) as Uint8Array).toString()).toBe('abcdef');
  expect(budget.heldBytes).toBe(0);
});

test('a body over the limit comes back one byte over it, while the rest is still on its way', async () => {
  const [source, budget] = [new PassThrough(), new BodyBudget()];
  const body = collect(source, budget, 4);
  source.write('abc');
  source.write('defghi');
  expect(Buffer.from((await body) as Uint8Array).toString()).toBe('abcde');
  expect(budget.heldBytes).toBe(0);
});

test('a client that leaves in the middle is gone', async () => {
  const [source, budget] = [new PassThrough(), new BodyBudget()];
  const body = collect(source, budget, 10);
  source.write('abc');
  source.destroy();
  expect(await body).toBe('gone');
  expect(budget.heldBytes).toBe(0);
});

test('bodies that are too many together are turned away, later ones are welcome again', async () => {
  const budget = new BodyBudget(5);
  const [slow, late, next] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const first = collect(slow, budget, 10);
  slow.write('abc');
  const second = collect(late, budget, 10);
  late.write('defg');
  expect(await second).toBe('overloaded');
  slow.end();
  await first;
  const third = collect(next, budget, 10);
  next.end('hij');
  expect(Buffer.from((await third) as Uint8Array).toString()).toBe('hij');
});

test.each([
  ['/a?b=c', '/a', [['b', 'c']]],
  ['https://host:1/a?b', '/a', [['b', '']]],
  ['http://host', '/', []],
  ['/a?', '/a', []],
  [
    '/%2F?limit=%zz&x=%41&y;z=1&&=v',
    '/%2F',
    [
      ['x', 'A'],
      ['', 'v'],
    ],
  ],
])('the target %s is %s with %j', (target, path, query) => expect(parseTarget(target)).toMatchObject({path, query}));

test.each(['*', 'a', '', '/%z', '/%'])('%j is no target', (target) => expect(parseTarget(target)).toBeUndefined());

test('escapes that are no UTF-8 do not lose the rest', () => expect(parseQuery('a=x%ffy%C3%A9z')).toEqual([['a', 'x\ufffdyéz']]));
