import {createHash} from 'node:crypto';
import type {Duplex} from 'node:stream';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../clock.ts';
import {decodeBinary, encodeBinary} from './binary.ts';
import {type Form, firstCreditBytes, gapMs, maxBinaryMessageBytes, maxStreams, type StreamFrame, windowBytes} from './frames.ts';
import {Multiplexer} from './multiplexer.ts';
import type {TunnelStream} from './stream.ts';
import {decodeText, encodeText} from './text.ts';

const decode = (message: string | Uint8Array): StreamFrame =>
  typeof message === 'string' ? (decodeText(message) as StreamFrame) : decodeBinary(message);

/** Two ends, and between them a way that a test's seed makes bad: it doubles, and lets later messages overtake. */
class Wire {
  readonly clock = new ManualClock();
  readonly here: Multiplexer;
  readonly there: Multiplexer;
  readonly accepted: [to: string, stream: TunnelStream][] = [];
  messages = 0;
  longest = 0;
  readonly #under: [end: 'here' | 'there', message: string | Uint8Array][] = [];
  readonly #next: () => number;
  #busy = false;

  constructor(form: Form, seed?: number, accept?: (stream: TunnelStream, to: string) => void) {
    let state = seed ?? 0;
    this.#next = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const bad = seed !== undefined;
    const carrier = (end: 'here' | 'there') => ({
      send: (message: string | Uint8Array) => {
        this.messages++;
        this.longest = Math.max(this.longest, message.length);
        this.#under.push([end, message]);
        if (bad && this.#next() < 0.2) this.#under.push([end, message]);
        this.#deliver(bad);
      },
      room: () => undefined,
    });
    this.here = new Multiplexer({form, clock: this.clock, carrier: carrier('there')});
    this.there = new Multiplexer({
      form,
      clock: this.clock,
      carrier: carrier('here'),
      accept: (stream, to) => {
        this.accepted.push([to, stream]);
        accept?.(stream, to);
      },
    });
  }

  #deliver(bad: boolean): void {
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => {
      this.#busy = false;
      for (let left = this.#under.length; left > 0; left--) {
        const at = bad ? Math.floor(this.#next() * Math.min(5, this.#under.length)) : 0;
        const [[end, message]] = this.#under.splice(at, 1) as [['here' | 'there', string | Uint8Array]];
        this[end].receive(decode(message));
      }
      if (this.#under.length > 0) this.#deliver(bad);
    });
  }
}

async function digestOf(stream: Duplex): Promise<string> {
  const hash = createHash('sha1');
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest('hex');
}

const bytesOf = (size: number, seed: number): Buffer => {
  const bytes = Buffer.alloc(size);
  for (let at = 0, state = seed + 1; at < size; at++) {
    state = (state * 16_807) % 2_147_483_647;
    bytes[at] = state & 255;
  }
  return bytes;
};
const sha1 = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('hex');
const echo = (stream: TunnelStream): void => void stream.pipe(stream);

describe.each(['binary', 'text'] as const)('streams in %s form', (form) => {
  test('carry bytes both ways, and end one way at a time', async () => {
    const wire = new Wire(form, undefined, echo);
    const stream = wire.here.open('10.1.0.7:80');
    const bytes = bytesOf(3 * windowBytes, 1);
    stream.end(bytes);
    expect(await digestOf(stream)).toBe(sha1(bytes));
    expect(wire.accepted.map(([to]) => to)).toEqual(['10.1.0.7:80']);
    expect([wire.here.size, wire.there.size]).toEqual([0, 0]);
  });

  test('arrive whole however their frames are doubled and overtake each other', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({min: 0, max: 2 ** 30}), fc.array(fc.nat(700_000), {minLength: 1, maxLength: 4}), async (seed, sizes) => {
        const wire = new Wire(form, seed, echo);
        await Promise.all(
          sizes.map(async (size, index) => {
            const bytes = bytesOf(size, seed + index);
            const stream = wire.here.open(`10.1.0.7:${index + 1}`);
            for (let at = 0; at < size; at += 90_001) stream.write(bytes.subarray(at, at + 90_001));
            stream.end();
            expect(await digestOf(stream)).toBe(sha1(bytes));
          }),
        );
        expect([wire.here.size, wire.there.size, wire.accepted.length]).toEqual([0, 0, sizes.length]);
      }),
      {numRuns: 25, seed: 42},
    ));

  test('stay below the length of a message', async () => {
    const wire = new Wire(form, undefined, echo);
    const stream = wire.here.open('agent');
    stream.end(bytesOf(200_000, 3));
    await digestOf(stream);
    expect(wire.longest).toBeLessThanOrEqual(form === 'text' ? 32_000 : maxBinaryMessageBytes);
  });

  test('wait for a slow reader, who costs a bounded buffer and no other stream', async () => {
    const wire = new Wire(form);
    const slow = wire.here.open('10.1.0.7:1');
    slow.write(bytesOf(4 * windowBytes, 1));
    const quick = wire.here.open('10.1.0.7:2');
    quick.end('hello');
    while (wire.accepted.length < 2) await new Promise(setImmediate);
    const [[, unread], [, read]] = wire.accepted as [[string, TunnelStream], [string, TunnelStream]];
    expect(await digestOf(read)).toBe(sha1(Buffer.from('hello')));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(unread.readableLength).toBeLessThanOrEqual(firstCreditBytes + windowBytes);
    expect(unread.readableLength).toBeGreaterThan(0);
  });

  test('end on both sides when one resets, with its reason', async () => {
    const wire = new Wire(form, undefined, (stream) => stream.destroy(new Error('no such port')));
    const stream = wire.here.open('10.1.0.7:1');
    await expect(digestOf(stream)).rejects.toThrow('no such port');
    expect([wire.here.size, wire.there.size]).toEqual([0, 0]);
  });

  test('break with their tunnel', async () => {
    const wire = new Wire(form, undefined, echo);
    const stream = wire.here.open('agent');
    const read = digestOf(stream);
    wire.here.close(new Error('the tunnel broke'));
    await expect(read).rejects.toThrow('the tunnel broke');
    expect(() => wire.here.open('agent')).toThrow('closed');
  });
});

describe('a hostile other side', () => {
  const alone = (accept = true) => {
    const sent: StreamFrame[] = [];
    const clock = new ManualClock();
    const send = (message: string | Uint8Array): void => {
      const frame = decode(message);
      // How much a side gives is its own affair.
      if (frame.action !== 'credit') sent.push(frame);
    };
    const carrier = {send, room: () => undefined};
    const streams: TunnelStream[] = [];
    const mux = new Multiplexer({
      form: 'binary',
      clock,
      carrier,
      ...(accept && {accept: (stream: TunnelStream) => void streams.push(stream)}),
    });
    return {mux, sent, streams, clock};
  };
  const data = (at: number, bytes: Uint8Array): StreamFrame => ({action: 'data', stream: '1', at, bytes});

  test('that sends beyond its credit is reset', () => {
    const {mux, sent} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    mux.receive(data(firstCreditBytes, Buffer.alloc(1)));
    expect(sent).toEqual([{action: 'reset', stream: '1', reason: 'more was sent than there was credit for'}]);
  });

  test('that sends crumbs in the wrong order is reset', () => {
    const {mux, sent} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    for (let at = 2; at < 5_000; at += 2) mux.receive(data(at, Buffer.alloc(1)));
    expect(sent).toEqual([{action: 'reset', stream: '1', reason: 'too much came in the wrong order'}]);
  });

  test('that sends the same bytes again and again, cut anew each time, is reset', () => {
    const {mux, sent} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    for (let at = 1; at < 100; at++) mux.receive(data(at, Buffer.alloc(60_000)));
    expect(sent).toEqual([{action: 'reset', stream: '1', reason: 'too much came in the wrong order'}]);
  });

  test('that leaves a gap is waited for, then reset', () => {
    const {mux, sent, clock} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    mux.receive(data(5, Buffer.alloc(5)));
    clock.advance(gapMs - 1);
    expect(sent).toEqual([]);
    clock.advance(2);
    expect(sent).toEqual([{action: 'reset', stream: '1', reason: 'a part of the stream was lost'}]);
  });

  test('that ends where bytes were, or twice, is reset', () => {
    const {mux, sent} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    mux.receive({action: 'end', stream: '1', at: 7});
    mux.receive({action: 'end', stream: '1', at: 8});
    expect(sent).toMatchObject([{action: 'reset', reason: 'the stream ends twice'}]);
  });

  test('opens so many streams and no more, and none where it may not', () => {
    const {mux, sent, streams} = alone();
    for (let id = 1; id <= maxStreams + 1; id++) mux.receive({action: 'open', stream: String(id), to: 'agent'});
    expect(streams.length).toBe(maxStreams);
    expect(sent).toMatchObject([{action: 'reset', stream: String(maxStreams + 1)}]);
    const closed = alone(false);
    closed.mux.receive({action: 'open', stream: '1', to: 'agent'});
    expect(closed.sent).toMatchObject([{action: 'reset', stream: '1'}]);
  });

  test('opens a stream once, however late it says so again', () => {
    const {mux, streams} = alone();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    streams[0]!.destroy();
    mux.receive({action: 'open', stream: '1', to: 'agent'});
    expect(streams.length).toBe(1);
  });

  test('says what is no frame, and is told so', () => {
    const junk = fc.oneof(fc.uint8Array({maxLength: 40}), fc.string(), fc.json());
    fc.assert(
      fc.property(junk, (message) => {
        try {
          decode(message);
        } catch (error) {
          expect((error as Error).constructor.name).toBe('FrameError');
        }
      }),
      {seed: 7},
    );
  });
});

test('what is encoded is decoded again', () => {
  const at = fc.integer({min: 0, max: 2 ** 48 - 1});
  const stream = fc.integer({min: 0, max: 2 ** 32 - 1}).map(String);
  const frame = fc.oneof(
    fc.record({action: fc.constant('open' as const), stream, to: fc.string({minLength: 1, maxLength: 50, unit: 'grapheme-ascii'})}),
    fc.record({
      action: fc.constant('data' as const),
      stream,
      at,
      bytes: fc.uint8Array({maxLength: 2_000}).map((bytes) => Buffer.from(bytes)),
    }),
    fc.record({action: fc.constantFrom('end' as const, 'credit' as const), stream, at}),
    fc.record({action: fc.constant('reset' as const), stream, reason: fc.string({maxLength: 50, unit: 'grapheme-ascii'})}),
  );
  fc.assert(
    fc.property(frame, (given) => {
      expect(decodeText(encodeText(given))).toEqual(given);
      expect(decodeBinary(encodeBinary(given))).toEqual(given);
    }),
    {seed: 3},
  );
});
