/**
 * Collects a request body. Never holds more than one byte over the limit: what comes back is then longer than the limit, which is
 * how the API knows that it must answer 413, in its own words and after it knows who asks.
 */
import {maxBodyBytes} from '../../shared/limits.ts';
import {maxHeldBodyBytes} from './transport-limits.ts';

/** What Node's HTTP/1 requests and HTTP/2 streams have in common. */
export interface BodySource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  removeListener(event: 'data', listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
}

/** What all bodies that are still coming hold together. */
export class BodyBudget {
  readonly maxBytes: number;
  heldBytes = 0;

  constructor(maxBytes = maxHeldBodyBytes) {
    this.maxBytes = maxBytes;
  }
}

/** `gone`: the client went away in the middle of it. `overloaded`: too many others are sending at the same time. */
export type Collected = Uint8Array | 'gone' | 'overloaded';

const none = new Uint8Array(0);

/** Calls back once. */
export function collectBody(source: BodySource, budget: BodyBudget, done: (body: Collected) => void, limit = maxBodyBytes): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let finished = false;
  const finish = (reason?: 'gone' | 'overloaded'): void => {
    if (finished) return;
    finished = true;
    budget.heldBytes -= size;
    done(reason ?? (chunks.length === 1 ? chunks[0]! : chunks.length === 0 ? none : Buffer.concat(chunks, size)));
    chunks.length = 0;
  };
  const onData = (chunk: Buffer): void => {
    const room = limit + 1 - size;
    const piece = chunk.length > room ? chunk.subarray(0, room) : chunk;
    size += piece.length;
    budget.heldBytes += piece.length;
    chunks.push(piece);
    const overloaded = budget.heldBytes > budget.maxBytes;
    if (size <= limit && !overloaded) return;
    source.removeListener('data', onData);
    // The rest flows into the void: a client that writes before it reads would otherwise never see the answer.
    source.resume();
    finish(overloaded ? 'overloaded' : undefined);
  };
  source.on('data', onData);
  source.on('end', () => finish());
  source.on('close', () => finish('gone'));
}
