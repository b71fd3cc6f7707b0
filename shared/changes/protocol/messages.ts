/**
 * The words of the watch protocol as types: what a client says, what a server says. How they look on the wire is in decode.ts and
 * frames.ts, what they mean in docs/watch-protocol.md.
 */
import type {Status} from '../../errors.ts';
import type {Revision} from '../../storage/contract.ts';

/** Names the version of the protocol; a server that speaks another one picks none of those that a client offers. */
export const subprotocol = 'v1.watch.clusterless.dev';

export interface Collection {
  /** Empty for the core group. */
  group: string;
  version: string;
  resource: string;
  /** Empty for all namespaces, and for types without. */
  namespace: string;
}

/** What decides which events somebody gets, and in which form. */
export interface Selection {
  collection: Collection;
  labelSelector: string;
  fieldSelector: string;
  /** Media types as in an Accept header; JSON, Tables and partial metadata. */
  accept: string;
}

export interface SubscribeMessage extends Selection {
  action: 'subscribe';
  id: string;
  /** Everything later than this is wanted. */
  resourceVersion: Revision;
}

export type ClientMessage =
  | {action: 'hello'; token?: string}
  | SubscribeMessage
  | {action: 'unsubscribe'; id: string}
  | {action: 'replay'; id: string; from: Revision}
  | {action: 'ping'};

/** Where a subscription stands: the last revision sent on its topic, and up to where there was nothing else to send. */
export type Progress = [last: Revision, through: Revision];

export interface WelcomeMessage {
  action: 'welcome';
  /** Say hello again within this time, with a credential that is good then. */
  renewSeconds: number;
  /** Ping about this often. */
  pingSeconds: number;
  /** Replace the connection by a new one within this time. */
  reconnectSeconds: number;
  maxSubscriptions: number;
}

export interface EventsMessage {
  action: 'events';
  topic: string;
  from: Revision;
  to: Revision;
  events: WireEvent[];
}

/** One event, byte for byte as an HTTP watch carries it, without the end of the line. */
export interface WireEvent {
  revision: Revision;
  line: string;
}

export interface PartMessage {
  action: 'part';
  of: string;
  part: number;
  parts: number;
  text: string;
}

export type ServerMessage =
  | WelcomeMessage
  | {action: 'subscribed'; id: string; topic: string; resourceVersion: Revision}
  | EventsMessage
  | PartMessage
  | {action: 'pong'; progress: Record<string, Progress>}
  | {action: 'error'; id?: string; status: Status}
  | {action: 'bye'; code: number; reason: string};

/** Why a connection ends: sent as `bye` first, since not every platform lets a server choose the code. */
export const closeCodes = {
  /** Nothing more is wanted. */
  done: 1000,
  /** The server goes, or the connection is old: come again at once. */
  goingAway: 1001,
  /** What came was not this protocol. */
  malformed: 4400,
  /** The credential is not good, or not any more. */
  unauthorized: 4401,
  /** No hello in time, no sign of life for long. */
  silent: 4408,
  /** Too much waits to be sent: come again and go on from where you are. */
  slow: 4409,
  /** Too many messages. */
  tooMany: 4429,
} as const;
