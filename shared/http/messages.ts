/** A request and an answer as plain data. Adapters of some 60 lines turn a Node request or an API Gateway event into these and back. */
import type {Duplex} from 'node:stream';
import type {UserInfo} from '../auth/user.ts';
import type {Feed} from '../changes/protocol/feed.ts';

export interface Peer {
  /** Address of the client, without port. */
  address?: string;
  /** DER of the verified client certificate, when the transport verified one against the client CA. */
  certificate?: {subject: {commonName: string; organizations: string[]}; fingerprint: string};
  /** A certificate was presented that the client CA does not vouch for: the request is not anonymous but Unauthorized, unless a token speaks for it. */
  certificateError?: string;
}

export interface ApiRequest {
  method: string;
  /** The path as sent, still percent-encoded, without query. */
  path: string;
  query: readonly (readonly [name: string, value: string])[];
  /** The query as sent, without question mark, where the adapter still has it: a proxy hands it on as it is. */
  search?: string;
  /** By lower-case name; repeated headers joined with `, `. */
  headers: Readonly<Record<string, string | undefined>>;
  body?: Uint8Array;
  peer?: Peer;
  /** An in-process caller may name who it is; nothing on the wire can set this. */
  user?: UserInfo;
  /** Aborts when the client is gone. Watches end on it. */
  signal?: AbortSignal;
  /** An in-process caller wants a watch as its feed instead of a stream; nothing on the wire can set this. */
  asFeed?: true;
  /**
   * Nobody hears of what happens after this, ms since the epoch: the adapter cannot carry it any longer. A watch has ended by itself
   * before it, and a write is either made, given up or told to be unknown.
   */
  deadline?: number;
  /** The adapter can give the connection away: the client asked for another protocol on it, by its headers. */
  upgrade?: true;
}

export interface ApiResponse {
  status: number;
  /** By lower-case name. An array is sent as that many headers. */
  headers: Record<string, string | string[]>;
  /** Bytes, or for a watch an endless sequence of them, which may also be a PushBody. */
  body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** For a request `asFeed` that may watch. */
  feed?: Feed;
  /** For a request with `upgrade`: status and headers are the head of the 101, and behind it bytes are copied both ways. */
  upgrade?: Duplex;
}

/** A sequence that hands its pieces over by itself: a hundred watchers of one change then cost a hundred writes and no promises. */
export interface PushBody extends AsyncIterable<Uint8Array> {
  /** Instead of iterating, and once. Nothing is written before this returns. */
  pushTo(sink: PushSink): PushSource;
}

export interface PushSink {
  /** The same piece for many sinks is the same array. False: taken, but no more until `drained`. */
  write(piece: Uint8Array): boolean;
  /** There is nothing more. */
  end(): void;
}

export interface PushSource {
  drained(): void;
  /** The client is gone. Idempotent. */
  close(): void;
}
