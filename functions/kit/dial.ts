/**
 * An upgrade on behalf of a client that has a connection here: `clusterless proxy` asks for it as its own client did, the API decides and
 * writes the head of the request to the node, and from then on the bytes behind it go between the two connections. Who dials has no say in
 * what stands in that head, so that what it was let through for is what it gets.
 */
import type {UserInfo} from '../../shared/auth/user.ts';
import {badRequest, type StatusError} from '../../shared/errors.ts';
import type {ApiResponse} from '../../shared/http/messages.ts';
import {statusOf} from '../../shared/http/status.ts';
import {parseTarget} from '../../shared/http/target.ts';
import {encodeText, maxTextDataBytes} from '../../shared/nodes/tunnel/text.ts';
import {asksForUpgrade} from '../../shared/registry/subresources/forwarded-headers.ts';
import {type Head, waiting} from './head-roads.ts';
import {destinationText} from './node-road.ts';
import type {SocketParts} from './socket-session.ts';

export interface DialMessage {
  id: string;
  method: string;
  /** Path and query, as the client sent them. */
  target: string;
  headers: Record<string, string>;
}

/** Whose credential is in the headers, if any, is the API's affair. */
export async function dial(parts: SocketParts, traveller: string, user: UserInfo, message: DialMessage): Promise<void> {
  const {id} = message;
  const say = (answer: object): Promise<'sent' | 'gone'> => parts.sockets.post(traveller, [Buffer.from(JSON.stringify({...answer, id}))]);
  let head: Head | ApiResponse;
  try {
    head = await headOf(parts, user, message);
  } catch (error) {
    const {status} = statusOf(error);
    await say({action: 'refused', status: status.code, headers: {'content-type': 'application/json'}, body: JSON.stringify(status)});
    return;
  }
  if ('status' in head) {
    const {status, headers, body} = head;
    const text = body instanceof Uint8Array ? Buffer.from(body).toString() : '';
    await say({action: 'refused', status, headers, body: text.length > maxRefusal ? '' : text});
    return;
  }
  const {node, connection: agent, to, bytes} = head;
  const stream = crypto.randomUUID();
  const row = {stream, node, agent, traveller, head: bytes.length};
  await parts.streams.open(row);
  // Before the node can answer: frames of a stream that nobody expects are lost.
  await say({action: 'dialled', stream, at: bytes.length});
  const frames = [encodeText({action: 'open', stream, to: destinationText(to)})];
  for (let at = 0; at < bytes.length; at += maxTextDataBytes)
    frames.push(encodeText({action: 'data', stream, at, bytes: bytes.subarray(at, at + maxTextDataBytes)}));
  const outcome = await parts.sockets.post(
    agent,
    frames.map((frame) => Buffer.from(frame)),
  );
  if (outcome === 'sent') return;
  await parts.tunnels.ended(node, agent);
  await parts.streams.close(row);
  await parts.sockets.post(traveller, [Buffer.from(encodeText({action: 'reset', stream, reason: 'the node has gone'}))]);
}

/** A refusal that is longer would not fit a message. */
const maxRefusal = 20_000;

/** The head that the API would send to the node, or its answer where it sends none. @throws StatusError */
function headOf({cluster}: SocketParts, user: UserInfo, {method, target, headers}: DialMessage): Promise<Head | ApiResponse> {
  const parsed = parseTarget(target);
  if (!parsed) throw badRequest('the target is no path');
  if (!asksForUpgrade(headers)) throw badRequest('only what switches protocols is dialled');
  const given = new AbortController();
  const {path, query} = parsed;
  return new Promise((resolve, reject) => {
    // Nobody answers it here: the handler waits for what never comes, and goes with what it waits for.
    waiting.set(given.signal, resolve);
    const own = headers['authorization'] === undefined;
    cluster.handle({method, path, query, headers, upgrade: true, signal: given.signal, ...(own && {user})}).then(resolve, reject);
  });
}

/** @throws StatusError 400 */
export function dialMessageOf(fields: Record<string, unknown>): DialMessage {
  const {id, method, target, headers} = fields;
  const refuse = (what: string): StatusError => badRequest(`${what} of a dial is not what it must be`);
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) throw refuse('the id');
  if (typeof method !== 'string' || !/^[A-Z]{1,20}$/.test(method)) throw refuse('the method');
  if (typeof target !== 'string' || !/^\/[\x21-\x7e]*$/.test(target)) throw refuse('the target');
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) throw refuse('the headers');
  // Named by strangers: `constructor` is no header unless it was sent.
  const own: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw refuse('a header');
    own[name] = value;
  }
  return {id, method, target, headers: own};
}
