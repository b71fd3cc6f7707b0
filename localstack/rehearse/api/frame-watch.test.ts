import {expect, test} from 'vitest';
import {FrameWatch} from './frame-watch.ts';

/** As a client sends it: masked. */
function frame(length: number): Buffer {
  const short = length < 126 ? length : length < 65_536 ? 126 : 127;
  const extended = Buffer.alloc(short === 126 ? 2 : short === 127 ? 8 : 0);
  if (short === 126) extended.writeUInt16BE(length);
  if (short === 127) extended.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.from([0x81, 0x80 | short]), extended, Buffer.from([1, 2, 3, 4]), Buffer.alloc(length, 7)]);
}

test('frames up to the limit pass, however the bytes are cut', () => {
  const bytes = Buffer.concat([frame(0), frame(5), frame(126), frame(32 * 1024), frame(1)]);
  for (const step of [1, 7, 1000, bytes.length]) {
    const watch = new FrameWatch(32 * 1024);
    let kept = true;
    for (let at = 0; at < bytes.length; at += step) kept &&= watch.push(bytes.subarray(at, at + step));
    expect(kept).toBe(true);
  }
});

test('one byte more does not', () => {
  expect(new FrameWatch(32 * 1024).push(Buffer.concat([frame(3), frame(32 * 1024 + 1)]))).toBe(false);
  expect(new FrameWatch(32 * 1024).push(frame(70_000).subarray(0, 14))).toBe(false);
});
