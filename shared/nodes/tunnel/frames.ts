/** The words of a node's tunnel, and their bounds. How they look on the wire is in binary.ts and text.ts, what they mean in docs/tunnel.md. */

/** Names the version; a server that speaks another one picks none of those that an agent offers. */
export const tunnelProtocol = 'v1.tunnel.clusterless.dev';

/** About one stream. `at` counts the bytes of one direction from 0. */
export type StreamFrame =
  | {action: 'open'; stream: string; to: string}
  | {action: 'data'; stream: string; at: number; bytes: Uint8Array}
  | {action: 'end'; stream: string; at: number}
  | {action: 'reset'; stream: string; reason: string}
  | {action: 'credit'; stream: string; at: number};

export type Form = 'binary' | 'text';

/** About the tunnel itself: JSON in both forms. */
export type TunnelMessage =
  | {action: 'hello'; node: string; token?: string}
  | {
      action: 'welcome';
      form: Form;
      /** Ping about this often. */
      pingSeconds: number;
      /** Say hello again within this time, with a credential that is good then. */
      renewSeconds: number;
      /** Replace the tunnel by a new one within this time. */
      reconnectSeconds: number;
      /** Where the tunnel itself says that the node lives: its Lease need not be written more often. */
      leaseSeconds?: number;
    }
  | {action: 'ping' | 'pong'}
  | {action: 'bye'; code: number; reason: string};

/** A frame, its stream's number, its offset, and what it carries, are one message. */
export const maxBinaryMessageBytes = 64 * 1024;
/** API Gateway's frames are 32 KB, head included. */
export const maxTextMessageBytes = 32_000;
/** What a side may send on a stream before it has heard anything. */
export const firstCreditBytes = 256 * 1024;
/** What a reader lets wait for it once it reads: enough for a long way, little enough for a thousand streams. */
export const windowBytes = 1024 * 1024;
/** Streams of one tunnel. */
export const maxStreams = 1_000;
/** Pieces that wait for one before them, of one stream. Frames overtake each other by a few, not by a thousand. */
export const maxWaitingPieces = 1_024;
/** And as many bytes: a window, cut in two ways. */
export const maxWaitingBytes = 2 * windowBytes;
/** What waits for a piece before it waits this long: then that has been lost. */
export const gapMs = 30_000;
/** Streams that are over, and may yet be named by frames that come late or twice. */
export const maxRemembered = 4_096;
/** Frames of streams that nobody has opened yet: of all together. */
export const maxEarlyFrames = 64;
export const maxStreamIdLength = 64;
export const maxReasonLength = 500;
export const maxDestinationLength = 300;
/** How long a connection may stay without a hello. */
export const helloMs = 10_000;

/** A frame that breaks the rules. Whoever sent it is no peer. */
export class FrameError extends Error {}
