/** TLS inside of a road: to a pod that speaks it. Its certificate is nobody's business but its own, as with the reference. */
import type {Duplex} from 'node:stream';
import {connect} from 'node:tls';

/** @throws Error of the handshake */
export function overTls(road: Duplex): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const secure = connect({socket: road, rejectUnauthorized: false, ALPNProtocols: ['http/1.1']});
    const fail = (error: Error): void => {
      road.destroy();
      reject(error);
    };
    road.once('close', () => secure.destroy());
    secure.once('error', fail);
    secure.once('secureConnect', () => {
      secure.off('error', fail);
      resolve(secure);
    });
  });
}
