import {Duplex} from 'node:stream';
import {afterEach, expect, test, vi} from 'vitest';
import {hangUp} from './broken.ts';

afterEach(() => void vi.useRealTimers());

test('who is hung up on is gone in time, though he never says that he goes', () => {
  vi.useFakeTimers({toFake: ['setTimeout']});
  let said = '';
  const socket = new Duplex({
    read() {},
    write(bytes, _encoding, done) {
      said += bytes;
      done();
    },
  });
  hangUp(socket, 400);
  expect([said, socket.destroyed]).toEqual([expect.stringMatching(/^HTTP\/1\.1 400 Bad Request\r\n/), false]);
  vi.advanceTimersByTime(5_000);
  expect(socket.destroyed).toBe(true);
});
