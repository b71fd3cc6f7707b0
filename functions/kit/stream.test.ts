/** Streams as the runtime's own: what reaches the client, and when. */
import {EventEmitter} from 'node:events';
import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import type {PushBody, PushSink} from '../../shared/http/messages.ts';
import type {Head} from './answer.ts';
import {type ResponseStream, sendStream} from './stream.ts';

class Client extends EventEmitter implements ResponseStream {
  head: Head | undefined;
  chunks: string[] = [];
  ended = false;
  destroyed = false;
  full = false;

  write(chunk: Uint8Array | string): boolean {
    this.chunks.push(Buffer.from(chunk as string).toString());
    return !this.full;
  }

  end(): void {
    this.ended = true;
    this.emit('finish');
  }

  drain(): void {
    this.full = false;
    this.emit('drain');
  }
}

const withHead = (stream: ResponseStream, head: Head): ResponseStream => {
  (stream as Client).head = head;
  return stream;
};

class Watch implements PushBody {
  sink: PushSink | undefined;
  closed = false;
  drains = 0;

  pushTo(sink: PushSink) {
    this.sink = sink;
    return {
      drained: () => {
        this.drains++;
      },
      close: () => {
        this.closed = true;
      },
    };
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    throw new Error('it pushes');
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function open(contentType = 'application/json') {
  const [client, watch, clock] = [new Client(), new Watch(), new ManualClock()];
  const sent = sendStream(client, {status: 200, headers: {'content-type': contentType}, body: watch}, withHead, clock);
  const head = {chunks: [...client.chunks], status: client.head?.statusCode};
  clock.advance(25);
  await settle();
  return {client, watch, clock, sent, head};
}

describe('a watch', () => {
  test('has its head on the way before there is anything to say', async () => {
    const {head, watch} = await open();
    expect(head).toEqual({chunks: [''], status: 200});
    expect(watch.sink).toBeDefined();
  });

  test('is kept open with a space for each silent minute', async () => {
    const {client, watch, clock} = await open();
    clock.advance(59_000);
    expect(client.chunks.slice(1)).toEqual([]);
    watch.sink!.write(Buffer.from('{"type":"BOOKMARK"}\n'));
    clock.advance(59_000);
    expect(client.chunks.slice(1)).toEqual(['{"type":"BOOKMARK"}\n']);
    clock.advance(121_000);
    expect(client.chunks.slice(1)).toEqual(['{"type":"BOOKMARK"}\n', ' ', ' ', ' ']);
  });

  test('in Protobuf, which has nothing to say between events, ends before the gateway would cut it', async () => {
    const {client, watch, clock, sent} = await open('application/vnd.kubernetes.protobuf;stream=watch');
    clock.advance(239_000);
    expect(client.ended).toBe(false);
    clock.advance(1_000);
    await sent;
    expect([client.ended, watch.closed, client.chunks]).toEqual([true, true, ['']]);
  });

  test('that ends lets the function end', async () => {
    const {client, watch, clock, sent} = await open();
    watch.sink!.end();
    await sent;
    clock.advance(600_000);
    expect(client.chunks).toEqual(['']);
  });

  test('waits for a slow client', async () => {
    const {client, watch} = await open();
    client.full = true;
    expect(watch.sink!.write(Buffer.from('x'))).toBe(false);
    expect(watch.drains).toBe(0);
    client.drain();
    expect(watch.drains).toBe(1);
  });

  test('is let go of when the runtime has lost the client', async () => {
    const {client, watch, sent} = await open();
    client.emit('error', new Error('ECONNRESET'));
    await sent;
    expect(watch.closed).toBe(true);
  });
});

describe('a long list', () => {
  test('goes in pieces, no faster than they are taken', async () => {
    const client = new Client();
    client.full = true;
    const sent = sendStream(client, {status: 200, headers: {}, body: Buffer.alloc(150_000, 'x')}, withHead, new ManualClock());
    await settle();
    expect(client.chunks.map(({length}) => length)).toEqual([0, 65_536]);
    client.drain();
    await settle();
    await sent;
    expect(client.chunks.map(({length}) => length)).toEqual([0, 65_536, 65_536, 18_928]);
  });
});
