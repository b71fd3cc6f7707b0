/** TLS inside of a road: to a pod that speaks it. Its certificate is nobody's business but its own, as with the reference. */
import type {Duplex} from 'node:stream';
import {connect} from 'node:tls';
import {gatewayTimeout} from '../errors.ts';

/** As Go's clients wait. */
const handshakeMs = 10_000;

/** @throws Error of the handshake, of a road that ends in it, or that its client is gone; StatusError Timeout */
export function overTls(road: Duplex, signal?: AbortSignal, timeoutMs = handshakeMs): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const secure = connect({socket: road, rejectUnauthorized: false, ALPNProtocols: ['http/1.1']});
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
      secure.off('error', fail);
    };
    const fail = (error: Error): void => {
      done();
      // What is told of it later is told to nobody.
      secure.on('error', () => {});
      road.destroy();
      reject(error);
    };
    const leave = (): void => fail(new Error('the client is gone'));
    const timer = setTimeout(() => fail(gatewayTimeout('net/http: TLS handshake timeout')), timeoutMs);
    road.once('close', () => {
      fail(road.errored ?? new Error('EOF'));
      secure.destroy();
    });
    secure.once('error', fail);
    secure.once('secureConnect', () => {
      done();
      resolve(secure);
    });
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, {once: true});
  });
}
