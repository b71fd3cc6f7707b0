/** Where a token stands in a request: the Authorization header, or a subprotocol where a browser opens a WebSocket and can set no header. */
import type {ApiRequest} from '../http/messages.ts';

export const bearerProtocolPrefix = 'base64url.bearer.authorization.k8s.io.';

type Headers = ApiRequest['headers'];

/** The text of the warning that goes with a header that is passed over. */
export const extraSpaceWarning = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** The token of `Authorization: Bearer token`; undefined for other schemes. `warn` hears of a header with a space too many. */
export function bearerToken(headers: Headers, warn?: (text: string) => void): string | undefined {
  const header = headers['authorization']?.trim();
  if (!header) return undefined;
  const space = header.indexOf(' ');
  if (space < 0 || header.slice(0, space).toLowerCase() !== 'bearer') return undefined;
  const end = header.indexOf(' ', space + 1);
  const token = end < 0 ? header.slice(space + 1) : header.slice(space + 1, end);
  if (token === '') {
    warn?.(extraSpaceWarning);
    return undefined;
  }
  return token;
}

export const isWebSocketUpgrade = (headers: Headers): boolean =>
  headers['upgrade'] !== undefined &&
  headers['upgrade'].toLowerCase() === 'websocket' &&
  (headers['connection'] ?? '').toLowerCase().includes('upgrade');

export interface ProtocolToken {
  token: string;
  /** The subprotocols that are left to choose from. */
  protocols: readonly string[];
}

/**
 * The token among the subprotocols that a WebSocket client offers; undefined when there is none. The answer must name one of the
 * others, so that the token is not echoed.
 * @throws Error for two tokens, one that does not decode, and one that stands alone
 */
export function protocolToken(headers: Headers): ProtocolToken | undefined {
  const offered = headers['sec-websocket-protocol'];
  if (offered === undefined || !isWebSocketUpgrade(headers)) return undefined;
  const all = offered.split(',').map((protocol) => protocol.trim());
  const encoded = all.filter((protocol) => protocol.startsWith(bearerProtocolPrefix));
  if (encoded.length === 0) return undefined;
  if (encoded.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
  const text = encoded[0]!.slice(bearerProtocolPrefix.length);
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) throw new Error('invalid base64.bearer.authorization token encoding');
  let token: string;
  try {
    token = new TextDecoder('utf-8', {fatal: true}).decode(Buffer.from(text, 'base64url'));
  } catch (cause) {
    throw new Error('invalid base64.bearer.authorization token', {cause});
  }
  const protocols = all.filter((protocol) => !protocol.startsWith(bearerProtocolPrefix));
  if (token !== '' && protocols.length === 0) throw new Error('missing additional subprotocol');
  return token === '' ? undefined : {token, protocols};
}
