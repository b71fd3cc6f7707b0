/**
 * What is said about the streams of a tunnel (docs/tunnel.md), and its text form: a line of JSON, and behind the newline the payload in
 * base64. What a stream does with it is stream.ts; hello, welcome, ping, pong and bye are their connections' affair.
 */
import {isIP} from 'node:net';
import type {Destination} from './roads.ts';

export const tunnelProtocol = 'v1.tunnel.clusterless.dev';

export type Frame =
  | {action: 'open'; stream: string; to: Destination}
  | {action: 'data'; stream: string; at: number; bytes: Uint8Array}
  | {action: 'end'; stream: string; at: number}
  | {action: 'reset'; stream: string; reason: string}
  | {action: 'credit'; stream: string; upTo: number};

/** What either side may send before it was given more. */
export const windowBytes = 256 * 1024;
/** API Gateway takes frames of 32 KB and charges by them (AWS). */
export const maxTextBytes = 32_000;
/** Of one frame's payload, so that it fits a text message with its head. */
export const maxTextPayload = 23_700;
const maxReason = 500;
const maxOffset = 2 ** 48;

export class FrameError extends Error {
  override name = 'FrameError';
}

export function encodeText(frame: Frame): string {
  switch (frame.action) {
    case 'open': {
      const {to} = frame;
      return JSON.stringify({...frame, to: to === 'agent' ? to : formatAddress(to)});
    }
    case 'data': {
      const {bytes, ...head} = frame;
      return `${JSON.stringify(head)}\n${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`;
    }
    case 'reset':
      return JSON.stringify({...frame, reason: frame.reason.slice(0, maxReason)});
    default:
      return JSON.stringify(frame);
  }
}

/** The first line of a message: what it is. @throws FrameError for what is none */
export function headOf(text: string): Record<string, unknown> {
  const end = text.indexOf('\n');
  let head: unknown;
  try {
    head = JSON.parse(end < 0 ? text : text.slice(0, end));
  } catch {
    throw new FrameError('a message begins with a line of JSON');
  }
  if (typeof head !== 'object' || head === null || Array.isArray(head)) throw new FrameError('a message begins with a JSON object');
  return head as Record<string, unknown>;
}

/** `head`: that of `text`. Undefined for what is not about a stream. @throws FrameError */
export function decodeText(head: Record<string, unknown>, text: string): Frame | undefined {
  const {action} = head;
  if (action === 'open') return {action, stream: streamOf(head), to: destinationOf(head['to'])};
  if (action === 'data') return {action, stream: streamOf(head), at: offsetOf(head, 'at'), bytes: payloadOf(text)};
  if (action === 'end') return {action, stream: streamOf(head), at: offsetOf(head, 'at')};
  if (action === 'credit') return {action, stream: streamOf(head), upTo: offsetOf(head, 'upTo')};
  if (action === 'reset') {
    const {reason} = head;
    return {action, stream: streamOf(head), reason: typeof reason === 'string' ? reason.slice(0, maxReason) : ''};
  }
  return undefined;
}

export const formatAddress = ({host, port}: {host: string; port: number}): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** `agent`, or an address and a port. @throws FrameError */
export function destinationOf(value: unknown): Destination {
  if (value === 'agent') return 'agent';
  const [, six, four, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(typeof value === 'string' ? value : '') ?? [];
  const host = six ?? four;
  const port = Number(digits);
  if (host === undefined || isIP(host) === 0 || port < 1 || port > 65_535)
    throw new FrameError('"to" must be "agent" or an address with a port');
  return {host, port};
}

function streamOf({stream}: Record<string, unknown>): string {
  if (typeof stream !== 'string' || !/^[\w-]{1,64}$/.test(stream)) throw new FrameError('"stream" must name a stream');
  return stream;
}

function offsetOf(head: Record<string, unknown>, name: string): number {
  const value = head[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > maxOffset)
    throw new FrameError(`"${name}" must be an offset`);
  return value;
}

function payloadOf(text: string): Uint8Array {
  const body = text.slice(text.indexOf('\n') + 1 || text.length);
  const bytes = Buffer.from(body, 'base64');
  if (bytes.length === 0 || bytes.length !== Math.floor((body.replace(/=+$/, '').length * 3) / 4))
    throw new FrameError('data must be followed by a line of base64');
  return bytes;
}
