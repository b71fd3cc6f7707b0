/** Who is at the other end of a TLS connection: asked once per connection, not per request. */
import type {TLSSocket} from 'node:tls';
import type {Peer} from '../../shared/http/messages.ts';

export function peerOf(socket: TLSSocket): Peer {
  const peer: Peer = {};
  const address = socket.remoteAddress;
  if (address !== undefined) peer.address = address.startsWith('::ffff:') ? address.slice(7) : address;
  const certificate = socket.getPeerCertificate();
  // An empty object stands for "none was presented".
  if (!certificate?.raw) return peer;
  if (!socket.authorized) {
    peer.certificateError = String(socket.authorizationError);
    return peer;
  }
  const {CN, O} = certificate.subject as {CN?: string | string[]; O?: string | string[]};
  peer.certificate = {
    subject: {commonName: (Array.isArray(CN) ? CN.at(-1) : CN) ?? '', organizations: O === undefined ? [] : Array.isArray(O) ? O : [O]},
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
  return peer;
}
