/** Frames as bytes: type (u8), stream (u32), offset (u48), then what it carries. Streams are numbered. Pure. */
import {FrameError, maxBinaryMessageBytes, maxDestinationLength, maxReasonLength, type StreamFrame} from './frames.ts';

const headBytes = 11;
const types = ['open', 'data', 'end', 'reset', 'credit'] as const;

export const maxBinaryDataBytes = maxBinaryMessageBytes - headBytes;

export function encodeBinary(frame: StreamFrame): Buffer {
  const carried =
    frame.action === 'data' ? frame.bytes : Buffer.from(frame.action === 'open' ? frame.to : frame.action === 'reset' ? frame.reason : '');
  const message = Buffer.allocUnsafe(headBytes + carried.length);
  message.writeUInt8(types.indexOf(frame.action), 0);
  message.writeUInt32BE(Number(frame.stream), 1);
  message.writeUIntBE('at' in frame ? frame.at : 0, 5, 6);
  message.set(carried, headBytes);
  return message;
}

/** The bytes of `data` are a part of the message. @throws FrameError */
export function decodeBinary(message: Uint8Array): StreamFrame {
  if (message.length < headBytes || message.length > maxBinaryMessageBytes) throw new FrameError('a message of no possible length');
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length);
  const action = types[bytes.readUInt8(0)];
  const stream = String(bytes.readUInt32BE(1));
  const at = bytes.readUIntBE(5, 6);
  const carried = bytes.subarray(headBytes);
  switch (action) {
    case 'open':
      if (carried.length === 0 || carried.length > maxDestinationLength) throw new FrameError('no possible destination');
      return {action, stream, to: carried.toString()};
    case 'data':
      return {action, stream, at, bytes: carried};
    case 'reset':
      return {action, stream, reason: carried.subarray(0, maxReasonLength).toString()};
    case 'end':
    case 'credit':
      return {action, stream, at};
    default:
      throw new FrameError('an unknown type of frame');
  }
}
