import {expect, test} from 'vitest';
import {windowBytes} from '../../shared/nodes/tunnel/frames.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';
import {Streams} from './streams.ts';

test('a mailbox that a node fills without credit is read as far as there was credit, and no further', async () => {
  const piece = 30_000;
  const pageItems = 30;
  let at = 0;
  const query = async () => {
    const Items = Array.from({length: pageItems}, () => {
      const item = {sk: {S: `d|${String(at).padStart(15, '0')}`}, bytes: {B: Buffer.alloc(piece)}};
      at += piece;
      return item;
    });
    return {Items, LastEvaluatedKey: {sk: {S: 'more'}}};
  };
  const streams = new Streams({calls: {query} as unknown as DynamoCalls, table: 't', cluster: 'c', now: () => 0});
  const frames = await streams.fetch('s', 0);
  expect(frames.length * piece).toBeGreaterThan(windowBytes);
  expect(frames.length * piece).toBeLessThan(windowBytes + pageItems * piece + 1);
});
