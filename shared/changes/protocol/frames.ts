/**
 * Messages of a server as bytes. A message is UTF-8 text: a head of JSON, and behind its line the events as an HTTP watch carries them,
 * so that one encoding of an event serves every watcher of either kind. What is longer than a message goes in numbered parts.
 */
import {type Revision, StoreError} from '../../storage/contract.ts';
import {maxMessageBytes, maxParts} from './limits.ts';
import type {ServerMessage} from './messages.ts';

/** An event with the end of its line. */
export interface Line {
  revision: Revision;
  bytes: Uint8Array;
}

type Plain = Exclude<ServerMessage, {action: 'events' | 'part'}>;

export function encodeServerMessage(message: Plain): Buffer {
  if (message.action === 'subscribed') return Buffer.from(JSON.stringify({...message, resourceVersion: String(message.resourceVersion)}));
  if (message.action === 'pong') {
    const pairs = Object.entries(message.progress).map(([id, [last, through]]) => [id, [String(last), String(through)]]);
    return Buffer.from(JSON.stringify({action: 'pong', progress: Object.fromEntries(pairs)}));
  }
  return Buffer.from(JSON.stringify(message));
}

/**
 * The changes of `(from, to]` on a topic, of which only `lines` concern it, as few messages as they fit in. Each says which piece of the
 * range it covers, so that any of them may be lost, doubled or late.
 */
export function eventMessages(topic: string, from: Revision, to: Revision, lines: readonly Line[], limit = maxMessageBytes): Buffer[] {
  const messages: Buffer[] = [];
  let start = 0;
  let after = from;
  while (start < lines.length || (start === 0 && messages.length === 0)) {
    // The head's own length is bounded by what stands in it: 20 bytes are more than a revision and its quotes take.
    let bytes = 120 + topic.length;
    let end = start;
    while (end < lines.length) {
      const more = lines[end]!.bytes.length + 20;
      if (end > start && bytes + more > limit) break;
      bytes += more;
      end++;
    }
    const through = end === lines.length ? to : lines[end - 1]!.revision;
    const message = eventMessage(topic, after, through, lines.slice(start, end));
    if (message.length <= limit) messages.push(message);
    else messages.push(...parts(`${topic}/${after}/${through}`, message, limit));
    after = through;
    start = end;
    if (end === lines.length) break;
  }
  return messages;
}

function eventMessage(topic: string, from: Revision, to: Revision, lines: readonly Line[]): Buffer {
  const revisions = lines.map(({revision}) => `"${revision}"`).join(',');
  const head = `{"action":"events","topic":${JSON.stringify(topic)},"from":"${from}","to":"${to}","revisions":[${revisions}]}\n`;
  return Buffer.concat([Buffer.from(head), ...lines.map(({bytes}) => bytes)]);
}

/** @throws StoreError TooLarge for what would take more parts than a client puts together */
function parts(of: string, message: Buffer, limit: number): Buffer[] {
  const room = limit - 100 - Buffer.byteLength(JSON.stringify(of));
  const pieces: Buffer[] = [];
  for (let at = 0; at < message.length; ) {
    let end = Math.min(at + room, message.length);
    // Each part is text of its own: no character may be torn. Continuation bytes are 10xxxxxx.
    while (end < message.length && (message[end]! & 0xc0) === 0x80) end--;
    pieces.push(message.subarray(at, end));
    at = end;
  }
  if (pieces.length > maxParts)
    throw new StoreError('TooLarge', `an event of ${message.length} bytes does not fit into ${maxParts} messages`);
  return pieces.map((piece, at) =>
    Buffer.concat([Buffer.from(`${JSON.stringify({action: 'part', of, part: at + 1, parts: pieces.length})}\n`), piece]),
  );
}
