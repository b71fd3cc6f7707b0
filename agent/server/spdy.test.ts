import {once} from 'node:events';
import net from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import {SpdyConnection, type SpdyStream} from './spdy.ts';
import {control, data, type Frame, fin, number32, readFrames} from './spdy-testing.ts';

const kinds = {synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7};

describe('a SPDY connection', () => {
  const open: net.Socket[] = [];
  const servers: net.Server[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** Both ends of it, and the frames that came to the far one. */
  async function pair(): Promise<{near: SpdyConnection; socket: net.Socket; far: net.Socket; frames: Frame[]}> {
    const server = net.createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
    const [far] = (await once(server, 'connection')) as [net.Socket];
    open.push(socket, far);
    const frames: Frame[] = [];
    readFrames(far, (frame) => frames.push(frame));
    return {near: new SpdyConnection(socket), socket, far, frames};
  }

  const told = (stream: SpdyStream) => {
    const events: string[] = [];
    stream.on('data', (bytes) => events.push(bytes.toString()));
    stream.on('end', () => events.push('<end>'));
    stream.on('close', () => events.push('<close>'));
    return events;
  };

  test('opens streams with odd numbers, and one deflate stream carries the headers of all', async () => {
    const {near, frames} = await pair();
    await near.open({streamtype: 'error'});
    await near.open({streamType: 'data', port: '8080', requestid: '0'});
    await expect.poll(() => frames.length).toBe(2);
    expect(frames.map(({kind, stream, headers}) => ({kind, stream, headers}))).toEqual([
      {kind: kinds.synStream, stream: 1, headers: {streamtype: 'error'}},
      {kind: kinds.synStream, stream: 3, headers: {streamtype: 'data', port: '8080', requestid: '0'}},
    ]);
  });

  test('carries bytes both ways, long ones in several frames, and tells the end of each stream', async () => {
    const {near, far, frames} = await pair();
    const stream = await near.open({streamtype: 'stdin'});
    const events = told(stream);
    const long = Buffer.alloc(100_000, 7);
    stream.write(long);
    stream.end();
    await expect.poll(() => frames.at(-1)?.flags).toBe(fin);
    expect(Buffer.concat(frames.slice(1).map(({body}) => body)).equals(long)).toBe(true);
    expect(Math.max(...frames.map(({body}) => body.length))).toBeLessThanOrEqual(32 * 1024);
    far.write(Buffer.concat([data(1, 'one '), data(1, 'two'), data(1, '', fin)]));
    await expect.poll(() => events).toEqual(['one ', 'two', '<end>']);
  });

  test('puts frames together that come byte by byte', async () => {
    const {near, far} = await pair();
    const events = told(await near.open({streamtype: 'stdout'}));
    far.setNoDelay(true);
    for (const byte of Buffer.concat([data(1, 'slow'), control(kinds.rstStream, Buffer.concat([number32(1), number32(5)]))])) {
      far.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await expect.poll(() => events).toEqual(['slow', '<end>']);
  });

  test('answers pings, and a reply that is the end of a stream is one', async () => {
    const {near, far, frames} = await pair();
    const events = told(await near.open({streamtype: 'stdout'}));
    far.write(control(kinds.ping, number32(42)));
    far.write(control(kinds.synReply, number32(1), fin));
    await expect.poll(() => frames.at(-1)).toMatchObject({kind: kinds.ping, stream: 42});
    await expect.poll(() => events).toEqual(['<end>']);
  });

  test('hostile frames harm nobody: strange streams and kinds, bodies that are too short, streams opened from there', async () => {
    const {near, far} = await pair();
    const events = told(await near.open({streamtype: 'stdout'}));
    far.write(
      Buffer.concat([
        data(999, 'for nobody', fin),
        data(0, 'for nobody'),
        control(kinds.rstStream, Buffer.alloc(0)),
        control(kinds.rstStream, Buffer.from([1, 2])),
        control(kinds.synReply, Buffer.alloc(0), fin),
        control(kinds.ping, Buffer.alloc(0)),
        control(kinds.synStream, Buffer.alloc(10, 0xff)),
        control(kinds.goAway, Buffer.alloc(8)),
        control(0xffff, Buffer.alloc(3)),
        Buffer.concat([Buffer.from([0xff, 0xff]), control(1, Buffer.alloc(0)).subarray(2)]),
        data(1, 'still here'),
      ]),
    );
    await expect.poll(() => events).toEqual(['still here']);
  });

  test('all streams close when the connection does, in the middle of a frame too', async () => {
    const {near, far} = await pair();
    const [one, two] = [await near.open({streamtype: 'stdout'}), await near.open({streamtype: 'stderr'})];
    const events = [told(one), told(two)];
    far.end(Buffer.concat([data(1, 'x'), data(3, 'never whole').subarray(0, 10)]));
    await expect.poll(() => events).toEqual([['x', '<close>'], ['<close>']]);
  });

  test('what is written faster than it is read says so, and says when there is room again', async () => {
    const {near, far} = await pair();
    const stream = await near.open({streamtype: 'stdin'});
    far.pause();
    let written = 0;
    while (stream.write(Buffer.alloc(64 * 1024)) && written < 1000) written += 1;
    expect(written).toBeLessThan(1000);
    let drained = false;
    near.onceDrained(() => {
      drained = true;
    });
    far.resume();
    await expect.poll(() => drained).toBe(true);
  });

  test('a connection that is closed sends what was written and does not wait for the other side', async () => {
    const {near, socket, far, frames} = await pair();
    const stream = await near.open({streamtype: 'stdin'});
    stream.write(Buffer.from('last words'));
    far.on('end', () => {});
    near.close();
    await once(socket, 'close');
    await expect.poll(() => frames.at(-1)?.body.toString()).toBe('last words');
  });
});
