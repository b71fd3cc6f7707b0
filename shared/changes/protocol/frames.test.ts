import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decodeClientMessage, decodeServerMessage, ProtocolError} from './decode.ts';
import {encodeServerMessage, eventMessages, type Line} from './frames.ts';
import {maxMessageBytes} from './limits.ts';
import type {EventsMessage} from './messages.ts';
import {Assembler} from './parts.ts';
import {requestOf, selectionOf, topicId, topicText} from './topic.ts';

const texts = fc.oneof(fc.string(), fc.string({unit: 'binary', maxLength: 400}), fc.constantFrom('ß', '漢字', '😀'.repeat(30), 'a\\nb'));
const lineOf = (text: string, revision: number): Line => ({
  revision,
  bytes: Buffer.from(`${JSON.stringify({type: 'ADDED', object: {text: text}})}\n`),
});

/** As a client reads them, whatever order they come in. */
function read(messages: readonly Buffer[]): EventsMessage[] {
  const assembler = new Assembler();
  const events: EventsMessage[] = [];
  for (const bytes of messages) {
    let message = decodeServerMessage(new TextDecoder('utf-8', {fatal: true}).decode(bytes));
    if (message?.action === 'part') {
      const whole = assembler.add(message);
      message = whole === undefined ? undefined : decodeServerMessage(whole);
    }
    if (message) events.push(message as EventsMessage);
  }
  return events;
}

describe('events of a topic as messages', () => {
  test('whatever their sizes, what is read is what was written: each message is short, is text, and they cover the range', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(texts, fc.integer({min: 1, max: 60})), {maxLength: 30}),
        fc.integer({min: 400, max: 4_000}),
        (input, limit) => {
          const lines = input.map(([text, times], at) => lineOf(text.repeat(times), 10 + at * 2));
          const messages = eventMessages('topic', 7, 100, lines, limit);
          for (const message of messages) expect(message.length).toBeLessThanOrEqual(limit);
          const events = read(messages);
          expect(events.flatMap((message) => message.events)).toEqual(
            lines.map(({revision, bytes}) => ({revision, line: Buffer.from(bytes).toString().slice(0, -1)})),
          );
          expect([events[0]!.from, events.at(-1)!.to]).toEqual([7, 100]);
          for (const [at, message] of events.entries()) if (at > 0) expect(message.from).toBe(events[at - 1]!.to);
        },
      ),
    );
  });

  test('parts come together in any order, doubled as well', () => {
    fc.assert(
      fc.property(fc.string({unit: 'grapheme', minLength: 1_000, maxLength: 3_000}), fc.array(fc.nat(), {maxLength: 50}), (text, swaps) => {
        const line = lineOf(text, 5);
        const messages = eventMessages('t', 0, 5, [line], 600);
        expect(messages.length).toBeGreaterThan(1);
        const shuffled = [...messages, ...swaps.map((at) => messages[at % messages.length]!)];
        for (const [at, swap] of swaps.entries()) {
          const other = swap % shuffled.length;
          const here = at % shuffled.length;
          [shuffled[here], shuffled[other]] = [shuffled[other]!, shuffled[here]!];
        }
        expect(read(shuffled)[0]!.events).toEqual([{revision: 5, line: Buffer.from(line.bytes).toString().slice(0, -1)}]);
      }),
      {numRuns: 50},
    );
  });

  test('a range in which nothing concerned the topic is one short message', () => {
    const messages = eventMessages('t', 3, 9, []);
    expect(messages.map(String)).toEqual(['{"action":"events","topic":"t","from":"3","to":"9","revisions":[]}\n']);
    expect(read(messages)).toEqual([{action: 'events', topic: 't', from: 3, to: 9, events: []}]);
  });

  test('an object of 3 MiB goes in parts that fit a frame of 32 KB', () => {
    const messages = eventMessages('t', 0, 1, [lineOf('x'.repeat(3 * 1024 * 1024), 1)]);
    expect(messages.length).toBeLessThan(105);
    for (const message of messages) expect(message.length).toBeLessThanOrEqual(maxMessageBytes);
    expect(read(messages)[0]!.events[0]!.line.length).toBeGreaterThan(3 * 1024 * 1024);
  });

  test('what no client would put together is refused by the one who would send it', () => {
    expect(() => eventMessages('t', 0, 1, [lineOf('x'.repeat(9_000_000), 1)])).toThrow(/does not fit/);
  });

  test('parts that are never completed are let go of in the end', () => {
    const assembler = new Assembler();
    const text = 'x'.repeat(1024 * 1024);
    for (let at = 0; at < 40; at++) assembler.add({action: 'part', of: `m${at}`, part: 1, parts: 2, text});
    expect(assembler.add({action: 'part', of: 'm0', part: 2, parts: 2, text})).toBeUndefined();
    expect(assembler.add({action: 'part', of: 'm39', part: 2, parts: 2, text})).toBe(text + text);
  });
});

describe('what strangers send', () => {
  test('never breaks more than itself', () => {
    const wild = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify({action: 'subscribe', id: 'a', collection: value})),
    );
    const half = fc
      .record(
        {
          action: fc.constantFrom(
            'hello',
            'subscribe',
            'unsubscribe',
            'replay',
            'ping',
            'events',
            'part',
            'pong',
            'welcome',
            'error',
            'bye',
          ),
          id: fc.oneof(fc.string(), fc.integer()),
          token: fc.jsonValue(),
          collection: fc.jsonValue(),
          revisions: fc.jsonValue(),
          progress: fc.jsonValue(),
          from: fc.oneof(fc.string(), fc.bigInt().map(String)),
          resourceVersion: fc.jsonValue(),
        },
        {requiredKeys: ['action']},
      )
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.oneof(wild, half), (text) => {
        for (const decode of [decodeClientMessage, decodeServerMessage]) {
          try {
            decode(text);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
            expect((error as Error).message.length).toBeLessThan(400);
          }
        }
      }),
      {numRuns: 2_000},
    );
  });

  const subscribe = (more: object) =>
    JSON.stringify({action: 'subscribe', id: 's1', collection: {version: 'v1', resource: 'pods'}, resourceVersion: '7', ...more});

  test.each([
    ['nonsense', true, 'a message must be JSON'],
    ['[]', true, 'a message must be a JSON object'],
    ['{"action":"sudo"}', true, 'unknown action "sudo"'],
    [`{"action":"ping","pad":"${'x'.repeat(maxMessageBytes)}"}`, true, 'a message must not be longer than 32000 bytes'],
    ['{"action":"unsubscribe"}', false, 'id must be a string'],
    ['{"action":"unsubscribe","id":"a b"}', false, 'id "a b" must be of letters, digits, "_", "-" and "."'],
    [subscribe({resourceVersion: '0'}), false, 'resourceVersion "0" must be a resourceVersion from which to go on'],
    [subscribe({resourceVersion: 7}), false, 'resourceVersion 7 must be a resourceVersion from which to go on'],
    [
      subscribe({resourceVersion: '99999999999999999999'}),
      false,
      'resourceVersion "99999999999999999999" must be a resourceVersion from which to go on',
    ],
    [subscribe({collection: {version: 'v1', resource: '../secrets'}}), false, 'collection.resource "../secrets" is not a name'],
    [subscribe({collection: 'pods'}), false, 'collection must be an object'],
    [subscribe({labelSelector: 5}), false, 'labelSelector must be a string'],
    ['{"action":"replay","id":"s1"}', false, 'from nothing must be a resourceVersion'],
  ])('%.60s', (text, fatal, words) => {
    const error = caught(() => decodeClientMessage(text));
    expect(error).toMatchObject({message: words, fatal});
  });

  test('an error about a subscription names it', () => {
    expect(caught(() => decodeClientMessage(subscribe({resourceVersion: 'x'})))).toMatchObject({id: 's1'});
  });
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('a topic is the same wherever it is computed, and its text says everything about it', async () => {
  const selection = {
    collection: {group: 'apps', version: 'v1', resource: 'deployments', namespace: 'a'},
    labelSelector: 'a in (b,c)',
    fieldSelector: 'metadata.name=x',
    accept: 'application/json',
  };
  expect(selectionOf(topicText(selection))).toEqual(selection);
  expect(await topicId(selection)).toBe(await topicId(selectionOf(topicText(selection))));
  expect(await topicId(selection)).toMatch(/^[\w-]{20}$/);
  expect(await topicId({...selection, labelSelector: ''})).not.toBe(await topicId(selection));
  expect(requestOf(selection)).toEqual({
    method: 'GET',
    path: '/apis/apps/v1/namespaces/a/deployments',
    query: [
      ['watch', '1'],
      ['labelSelector', 'a in (b,c)'],
      ['fieldSelector', 'metadata.name=x'],
    ],
    headers: {accept: 'application/json'},
  });
});

test('answers keep revisions as the decimal strings that clients know', () => {
  expect(String(encodeServerMessage({action: 'pong', progress: {s1: [5, 9]}}))).toBe('{"action":"pong","progress":{"s1":["5","9"]}}');
  expect(decodeServerMessage('{"action":"pong","progress":{"s1":["5","9"]}}')).toEqual({action: 'pong', progress: {s1: [5, 9]}});
});
