/**
 * What a server does with a message, decided purely: `decide` looks at what is known of a connection and says the one thing to be done.
 * Doing it is in session.ts for a server that holds its connections, and in functions for connections that a platform holds.
 */
import type {UserInfo} from '../../auth/user.ts';
import {badRequest, failure, type Status, type StatusError, tooManyRequests, unauthorized} from '../../errors.ts';
import type {Revision} from '../../storage/contract.ts';
import {decodeClientMessage, ProtocolError} from './decode.ts';
import {burstMessages, connectionMs, helloMs, maxSubscriptions, messagesPerSecond, renewalMs, silenceMs} from './limits.ts';
import {closeCodes, type SubscribeMessage, type WelcomeMessage} from './messages.ts';

/** Plain data, so that it can lie in a table between two messages. Times are ms since the epoch. */
export interface ConnectionState {
  connectedAt: number;
  heardAt: number;
  /** Who it is from, since a hello was accepted. */
  user?: UserInfo;
  /** When `user` is no longer to be believed. */
  expiresAt?: number;
  /** Ids that are in use, each with its topic. */
  topics: ReadonlyMap<string, string>;
  /** What is left of the burst, as of `heardAt`. A platform with limits of its own need not keep it. */
  allowance?: number;
}

export type Order =
  | {do: 'authenticate'; token: string | undefined}
  /** Authorize it, find its topic, keep it, answer `subscribed`, then send what lies behind its resourceVersion. */
  | {do: 'subscribe'; user: UserInfo; message: SubscribeMessage}
  | {do: 'unsubscribe'; id: string}
  | {do: 'replay'; user: UserInfo; id: string; topic: string; from: Revision}
  | {do: 'progress'; user: UserInfo; topics: ReadonlyMap<string, string>}
  | {do: 'refuse'; id?: string; status: Status}
  /** Say bye, with an error before it where there is more to say, and hang up. */
  | {do: 'leave'; code: number; reason: string; status?: Status};

export function decide(state: ConnectionState, text: string, now: number): Order {
  if (spend(state, now) < 0) return leave('tooMany', 'too many messages', tooManyRequests('too many messages on one connection', 1));
  let message: ReturnType<typeof decodeClientMessage>;
  try {
    message = decodeClientMessage(text);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    if (error.fatal) return leave('malformed', error.message, badRequest(error.message));
    return refuse(error.id, badRequest(error.message));
  }
  if (message.action === 'hello') return {do: 'authenticate', token: message.token};
  const {user, expiresAt} = state;
  if (!user) return leave('unauthorized', 'the first message must be hello', unauthorized());
  if (expiresAt !== undefined && expiresAt <= now) return expired;
  switch (message.action) {
    case 'subscribe':
      if (state.topics.size >= maxSubscriptions && !state.topics.has(message.id))
        return refuse(message.id, tooManyRequests(`a connection carries at most ${maxSubscriptions} subscriptions`, 1));
      return {do: 'subscribe', user, message};
    case 'unsubscribe':
      return {do: 'unsubscribe', id: message.id};
    case 'replay': {
      const topic = state.topics.get(message.id);
      if (topic === undefined) return refuse(message.id, unknownSubscription(message.id));
      return {do: 'replay', user, id: message.id, topic, from: message.from};
    }
    case 'ping':
      return {do: 'progress', user, topics: state.topics};
  }
}

/** What time alone brings about; undefined when nothing. Look again when `wakeAt` says. */
export function decideByTime(state: ConnectionState, now: number): Order | undefined {
  if (!state.user) return now >= state.connectedAt + helloMs ? leave('silent', 'no hello in time') : undefined;
  if (state.expiresAt !== undefined && now >= state.expiresAt) return expired;
  if (now >= state.heardAt + silenceMs) return leave('silent', 'no sign of life for ten minutes');
  return undefined;
}

export const wakeAt = (state: ConnectionState): number =>
  state.user ? Math.min(state.heardAt + silenceMs, state.expiresAt ?? Number.POSITIVE_INFINITY) : state.connectedAt + helloMs;

/** `pingSeconds`: how late a client may learn that its last frame was lost, and how old its bookmarks get. */
export const welcome = (state: ConnectionState, now: number, pingSeconds: number): WelcomeMessage => ({
  action: 'welcome',
  renewSeconds: Math.max(1, Math.floor(((state.expiresAt ?? now + renewalMs) - now) / 1_000)),
  pingSeconds,
  reconnectSeconds: Math.max(1, Math.floor((state.connectedAt + connectionMs - now) / 1_000)),
  maxSubscriptions,
});

/**
 * When a credential must be shown again: at the end that a token names, and else after an hour. The token has been verified: what it
 * says of itself can be believed.
 */
export function expiryOf(token: string | undefined, now: number): number {
  const [, payload, signature] = token?.split('.') ?? [];
  if (payload !== undefined && signature !== undefined) {
    try {
      const {exp} = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {exp?: unknown};
      if (typeof exp === 'number') return Math.min(exp * 1_000, now + renewalMs);
    } catch {
      // Three words with dots between them need not be a JWT.
    }
  }
  return now + renewalMs;
}

export const unknownSubscription = (id: string): StatusError => failure(404, 'NotFound', `subscription ${JSON.stringify(id)} not found`);

const refuse = (id: string | undefined, {status}: StatusError): Order => ({do: 'refuse', ...(id !== undefined && {id}), status});

const leave = (code: keyof typeof closeCodes, reason: string, error?: StatusError): Order => ({
  do: 'leave',
  code: closeCodes[code],
  reason,
  ...(error && {status: error.status}),
});

const expired = leave('unauthorized', 'the credential has expired', unauthorized());

/** What is left after one more message. */
function spend(state: ConnectionState, now: number): number {
  const gained = ((now - state.heardAt) / 1_000) * messagesPerSecond;
  const allowance = Math.min(burstMessages, (state.allowance ?? burstMessages) + Math.max(0, gained)) - 1;
  state.allowance = allowance;
  state.heardAt = now;
  return allowance;
}
