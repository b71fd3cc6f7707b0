import {Duplex, PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {overTls} from './tls.ts';

/** Takes everything and says nothing. */
const silent = (): Duplex => Duplex.from({readable: new PassThrough(), writable: new PassThrough().resume()});

describe('a handshake that comes to nothing', () => {
  test('ends after a while', async () => {
    const road = silent();
    await expect(overTls(road, undefined, 20)).rejects.toMatchObject({
      status: {code: 504, message: expect.stringContaining('TLS handshake')},
    });
    expect(road.destroyed).toBe(true);
  });

  test('ends with its client', async () => {
    const road = silent();
    const leaving = new AbortController();
    const secure = overTls(road, leaving.signal);
    leaving.abort();
    await expect(secure).rejects.toThrow('the client is gone');
    expect(road.destroyed).toBe(true);
  });

  test('ends with its road, for the reason that that had', async () => {
    const road = silent();
    const secure = overTls(road);
    road.destroy(new Error('the tunnel broke'));
    await expect(secure).rejects.toThrow('the tunnel broke');
    const other = silent();
    const second = overTls(other);
    other.destroy();
    await expect(second).rejects.toThrow();
  });

  test('ends when what answers speaks no TLS', async () => {
    const readable = new PassThrough();
    const road = Duplex.from({readable, writable: new PassThrough().resume()});
    readable.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    await expect(overTls(road)).rejects.toThrow();
    expect(road.destroyed).toBe(true);
  });
});
