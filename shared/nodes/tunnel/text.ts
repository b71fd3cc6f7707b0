/** Frames as text, for ways that carry nothing else: a line of JSON, and behind its end, where there are bytes, base64. Pure. */
import {
  FrameError,
  maxDestinationLength,
  maxReasonLength,
  maxStreamIdLength,
  maxTextMessageBytes,
  type StreamFrame,
  type TunnelMessage,
} from './frames.ts';

/** Room for the line: it names a stream and an offset. */
const lineBytes = 200;
export const maxTextDataBytes = Math.floor((maxTextMessageBytes - lineBytes) / 4) * 3;

export function encodeText(frame: StreamFrame): string {
  if (frame.action !== 'data') return JSON.stringify(frame);
  const {bytes, ...line} = frame;
  return `${JSON.stringify(line)}\n${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`;
}

export const encodeMessage = (message: TunnelMessage): string => JSON.stringify(message);

const streamActions = new Set(['open', 'data', 'end', 'reset', 'credit']);

/** A frame, or whatever else the line says. @throws FrameError */
export function decodeText(message: string): StreamFrame | TunnelMessage {
  if (message.length > maxTextMessageBytes) throw new FrameError('a message of no possible length');
  const lineEnd = message.indexOf('\n');
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(lineEnd < 0 ? message : message.slice(0, lineEnd));
  } catch {
    throw new FrameError('a line that is no JSON');
  }
  if (typeof line !== 'object' || line === null || typeof line['action'] !== 'string') throw new FrameError('a line without action');
  return streamActions.has(line['action']) ? streamFrame(line, lineEnd < 0 ? '' : message.slice(lineEnd + 1)) : tunnelMessage(line);
}

function streamFrame(line: Record<string, unknown>, carried: string): StreamFrame {
  const {action, stream, at} = line;
  if (typeof stream !== 'string' || stream === '' || stream.length > maxStreamIdLength) throw new FrameError('a frame of no stream');
  if (action === 'open') {
    const {to} = line;
    if (typeof to !== 'string' || to === '' || to.length > maxDestinationLength) throw new FrameError('no possible destination');
    return {action, stream, to};
  }
  if (action === 'reset') return {action, stream, reason: String(line['reason'] ?? '').slice(0, maxReasonLength)};
  if (!Number.isSafeInteger(at) || (at as number) < 0) throw new FrameError('no possible offset');
  if (action === 'data') return {action, stream, at: at as number, bytes: Buffer.from(carried, 'base64')};
  return {action: action as 'end' | 'credit', stream, at: at as number};
}

function tunnelMessage(line: Record<string, unknown>): TunnelMessage {
  const {action} = line;
  const seconds = (name: string): number => {
    const value = line[name];
    if (typeof value !== 'number' || !(value > 0)) throw new FrameError(`${name} is no time`);
    return value;
  };
  switch (action) {
    case 'hello': {
      const {node, token} = line;
      if (typeof node !== 'string' || node === '' || node.length > 253) throw new FrameError('a hello of no node');
      if (token !== undefined && typeof token !== 'string') throw new FrameError('a token that is no text');
      return {action, node, ...(token !== undefined && {token})};
    }
    case 'welcome':
      return {
        action,
        form: line['form'] === 'text' ? 'text' : 'binary',
        pingSeconds: seconds('pingSeconds'),
        renewSeconds: seconds('renewSeconds'),
        reconnectSeconds: seconds('reconnectSeconds'),
        ...(line['leaseSeconds'] !== undefined && {leaseSeconds: seconds('leaseSeconds')}),
      };
    case 'ping':
    case 'pong':
      return {action};
    case 'bye':
      return {action, code: Number(line['code']) || 1000, reason: String(line['reason'] ?? '').slice(0, maxReasonLength)};
    default:
      throw new FrameError('an unknown action');
  }
}
