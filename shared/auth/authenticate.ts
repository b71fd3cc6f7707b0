/**
 * Who a request is from. In this order: an in-process caller, a client certificate, a bearer token, a token among WebSocket
 * subprotocols, and last nobody in particular. A credential that is wrong is refused even where none would do.
 */
import {unauthorized} from '../errors.ts';
import type {ApiRequest, Peer} from '../http/messages.ts';
import {bearerToken, protocolToken} from './bearer.ts';
import {credentialIdKey, withAuthenticatedGroup} from './groups.ts';
import {RecentMap} from './recent-map.ts';
import type {TokenAuthenticator} from './tokens.ts';
import {anonymous, type UserInfo} from './user.ts';

export interface AuthenticatorOptions {
  tokens: TokenAuthenticator;
  /** `--anonymous-auth`. Default true. */
  anonymous?: boolean;
}

/**
 * Answers at once for credentials seen before. The same credential gets the same object, which authorizers keep their answers by.
 * @throws StatusError 401
 */
export type Authenticator = (request: ApiRequest, warn?: (text: string) => void) => UserInfo | Promise<UserInfo>;

const maxKnownCertificates = 1_024;

export function createAuthenticator({tokens, anonymous: allowsAnonymous = true}: AuthenticatorOptions): Authenticator {
  const certificates = new RecentMap<string, UserInfo>(maxKnownCertificates);

  const certificateUser = (certificate: NonNullable<Peer['certificate']>): UserInfo => {
    const known = certificates.get(certificate.fingerprint);
    if (known) return known;
    const {commonName: name, organizations: groups} = certificate.subject;
    const extra = {[credentialIdKey]: [`X509SHA256=${certificate.fingerprint}`]};
    const user = withAuthenticatedGroup({name, groups: [...groups], extra});
    certificates.set(certificate.fingerprint, user);
    return user;
  };

  return (request, warn) => {
    if (request.user) return request.user;
    const {certificate, certificateError} = request.peer ?? {};
    if (certificate?.subject.commonName) return certificateUser(certificate);
    const token = bearerToken(request.headers, warn) ?? tokenInProtocols(request);
    if (token !== undefined) return tokens.known(token) ?? tokenUser(tokens, token);
    if (certificateError !== undefined || !allowsAnonymous) throw unauthorized();
    return anonymous;
  };
}

async function tokenUser(tokens: TokenAuthenticator, token: string): Promise<UserInfo> {
  const {user} = await tokens.authenticate(token);
  if (!user) throw unauthorized();
  return user;
}

function tokenInProtocols({headers}: ApiRequest): string | undefined {
  if (headers['sec-websocket-protocol'] === undefined) return undefined;
  try {
    return protocolToken(headers)?.token;
  } catch {
    throw unauthorized();
  }
}
