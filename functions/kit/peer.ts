/** Who is at the other end, as API Gateway tells it. A certificate is there only on a host name with mutual TLS, which has verified it. */
import {X509Certificate} from 'node:crypto';
import type {Peer} from '../../shared/http/messages.ts';

interface Identity {
  sourceIp?: unknown;
  clientCert?: {clientCertPem?: unknown} | null;
}

export function peerOf(requestContext: unknown): Peer {
  const {sourceIp, clientCert} = ((requestContext as {identity?: Identity} | null | undefined)?.identity ?? {}) as Identity;
  const peer: Peer = {};
  if (typeof sourceIp === 'string') peer.address = sourceIp;
  const pem = clientCert?.clientCertPem;
  if (typeof pem !== 'string') return peer;
  try {
    const certificate = new X509Certificate(pem);
    // The text form of a name cannot be split safely; this is the one that TLS sockets give.
    const {CN, O} = certificate.toLegacyObject().subject as unknown as {CN?: string | string[]; O?: string | string[]};
    peer.certificate = {
      subject: {commonName: (Array.isArray(CN) ? CN.at(-1) : CN) ?? '', organizations: O === undefined ? [] : Array.isArray(O) ? O : [O]},
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    };
  } catch (error) {
    peer.certificateError = error instanceof Error ? error.message : String(error);
  }
  return peer;
}
