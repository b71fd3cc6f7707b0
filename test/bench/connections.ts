/** The two protocols as connections for a number of workers. */
import type {Connection, Target} from './connection.ts';
import {openHttp1} from './http1.ts';
import {openHttp2} from './http2.ts';

/** One HTTP/1.1 connection for each of `count` workers, or one HTTP/2 connection that they share. */
export async function connections(target: Target, count: number): Promise<Connection[]> {
  if (target.protocol === 'h1') return Promise.all(Array.from({length: count}, () => openHttp1(target)));
  const shared = await openHttp2(target);
  return Array.from({length: count}, () => shared);
}
