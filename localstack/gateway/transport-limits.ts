/** Bounds of the transport, each with its reason. What bounds the API itself is in shared/limits.ts. */

/** How long slow clients are waited for. */
export interface Patience {
  /** A client that connects and says nothing. */
  handshakeMs: number;
  /** From connection (or the end of the last request) to the end of the headers. */
  headersMs: number;
  /** A whole request with its body. */
  requestMs: number;
  /** How often it is looked whose time is up. */
  checkMs: number;
}
/** Headers and requests have the reference's times. */
export const usualPatience: Patience = {handshakeMs: 10_000, headersMs: 32_000, requestMs: 60_000, checkMs: 5_000};
/** Longer than the 90 s after which Go clients drop idle connections: the client should be the one who closes. */
export const idleMs = 100_000;
/** Dead peers are found by the kernel. */
export const tcpKeepAliveMs = 30_000;
/** Streams in one HTTP/2 connection; Go's default. Clients open another connection for more. */
export const maxConcurrentStreams = 250;
/** Flow-control window of one upload: most objects arrive without a round trip. As the reference. */
export const streamWindowBytes = 256 * 1024;
/** Window of a whole connection, in the same spirit. */
export const connectionWindowBytes = 4 * 1024 * 1024;
/** Longer answers wait outside of an HTTP/2 connection, piece by piece, until the client has taken what came before. */
export const pieceBytes = 128 * 1024;
/** What Node may hold for one HTTP/2 connection, MiB: beyond it streams are refused. All of them with a piece each stay below. */
export const sessionMemoryMiB = 128;
/** Header fields of one request. */
export const maxHeaderFields = 1_000;
/** All bodies that are still on their way: strangers who send slowly, and many at once, must not fill the memory before anybody knows them. */
export const maxHeldBodyBytes = 192 * 1024 * 1024;
