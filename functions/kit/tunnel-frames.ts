/**
 * Frames of streams, as API Gateway hands them over one by one: from a node's tunnel into a mailbox or on to the connection at the other end,
 * and from that back. A frame goes nowhere but between the two whose stream it is: who names another's, or none, is told that it is over.
 */

import type {StreamFrame} from '../../shared/nodes/tunnel/frames.ts';
import {encodeText} from '../../shared/nodes/tunnel/text.ts';
import {doors} from './doors.ts';
import type {SocketParts} from './socket-session.ts';
import type {Sockets} from './sockets.ts';
import type {StreamRow, Streams} from './streams.ts';

/** Whose streams are is asked once in a while; one that has been closed meanwhile takes frames until then, which nobody reads. */
const rememberMs = 30_000;
const maxRemembered = 10_000;
const maxAttempts = 4;
const firstPauseMs = 25;
const remembered = new Map<string, {row: StreamRow; until: number}>();

async function rowOf({streams}: SocketParts, stream: string): Promise<StreamRow | undefined> {
  const now = doors.clock.now();
  const known = remembered.get(stream);
  if (known && known.until > now) return known.row;
  const row = await streams.of(stream);
  remembered.delete(stream);
  if (row) {
    if (remembered.size >= maxRemembered) remembered.delete(remembered.keys().next().value!);
    remembered.set(stream, {row, until: now + rememberMs});
  }
  return row;
}

/** `text`: the frame as it came, which is how it goes on. */
export async function passOn(parts: SocketParts, from: string, frame: StreamFrame, text: string): Promise<void> {
  const {stream} = frame;
  const row = frame.action === 'open' ? undefined : await rowOf(parts, stream);
  const isFromNode = row?.agent === from;
  if (!row || !(isFromNode || row.traveller === from)) {
    // A reset of what is over is what everybody ends with.
    if (frame.action !== 'reset') await reset(parts, from, stream, 'there is no such stream');
    return;
  }
  if (!isFromNode && frame.action === 'data' && frame.at < (row.head ?? 0)) {
    // It may be there before the head, which is what the traveller was let through for.
    await reset(parts, from, stream, 'what stands there is not yours to write');
    return;
  }
  if (isFromNode && row.traveller === undefined) await deposit(parts, frame);
  else {
    const to = isFromNode ? row.traveller! : row.agent;
    if ((await parts.sockets.post(to, [Buffer.from(text)])) === 'gone') {
      await forget(parts, row);
      if (!isFromNode) await parts.tunnels.ended(row.node, row.agent);
      if (frame.action !== 'reset') await reset(parts, from, stream, 'the other end has gone');
    } else if (frame.action === 'reset') await forget(parts, row);
  }
}

/** Nobody sends a frame twice that was taken: what fails is tried again, and changes nothing where it had not. */
async function deposit({streams}: SocketParts, frame: StreamFrame): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await streams.deposit(frame);
    } catch (error) {
      if (attempt >= maxAttempts) throw error;
      await new Promise<void>((resolve) => void doors.clock.after(firstPauseMs * 2 ** attempt * (0.5 + Math.random()), resolve));
    }
  }
}

/** The connection has ended: whoever is at the other end of its streams hears of it. */
export async function endStreams({streams, sockets}: {streams: Streams; sockets(): Promise<Sockets>}, connection: string): Promise<void> {
  for (const row of await streams.ofConnection(connection)) {
    const frame = {action: 'reset', stream: row.stream, reason: 'the other end has gone'} as const;
    if (row.agent === connection && row.traveller === undefined) await streams.deposit(frame);
    else {
      const other = row.agent === connection ? row.traveller! : row.agent;
      await (await sockets()).post(other, [Buffer.from(encodeText(frame))]);
      await streams.close(row);
    }
  }
}

async function forget({streams}: SocketParts, row: StreamRow): Promise<void> {
  remembered.delete(row.stream);
  await streams.close(row);
}

async function reset({sockets}: SocketParts, connection: string, stream: string, reason: string): Promise<void> {
  await sockets.post(connection, [Buffer.from(encodeText({action: 'reset', stream, reason}))]);
}
