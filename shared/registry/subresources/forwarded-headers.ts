/** Which headers of a request go on to what it is proxied to, and which of an answer come back. Pure. */
import {bearerProtocolPrefix} from '../../auth/bearer.ts';
import {hopByHop} from '../../http/hop-by-hop.ts';
import type {ApiRequest, ApiResponse} from '../../http/messages.ts';

type Headers = Record<string, string | readonly string[] | undefined>;

export const asksForUpgrade = (headers: ApiRequest['headers']): boolean =>
  (headers['connection'] ?? '').toLowerCase().includes('upgrade') && headers['upgrade'] !== undefined;

/** Who asked has been settled here, and is not the backend's business. */
const ours = /^(authorization|impersonate-.*|:.*)$/;
/** The body has been read, and is sent as what it is. */
const framing = new Set(['content-length', 'expect']);

/** For a request that switches protocols: all of them, in particular those that say to what. */
export function upgradeHeaders(request: ApiRequest): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !ours.test(name) && name !== 'expect') headers[name] = value;
  const protocols = listOf(request.headers['sec-websocket-protocol']);
  if (protocols.some((protocol) => protocol.startsWith(bearerProtocolPrefix)))
    headers['sec-websocket-protocol'] = protocols.filter((protocol) => !protocol.startsWith(bearerProtocolPrefix)).join(', ');
  // Servers of streams look at the lines one by one.
  const streams = listOf(request.headers['x-stream-protocol-version']);
  if (streams.length > 1) headers['x-stream-protocol-version'] = streams;
  return {...headers, ...forwardedFor(request)};
}

export function requestHeaders(request: ApiRequest): Headers {
  const named = new Set(listOf(request.headers['connection']).map((name) => name.toLowerCase()));
  const headers: Headers = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || hopByHop.has(name) || framing.has(name) || named.has(name) || ours.test(name)) continue;
    headers[name] = value;
  }
  if (listOf(request.headers['te']).includes('trailers')) headers['te'] = 'trailers';
  if (/^(POST|PUT|PATCH)$/.test(request.method)) headers['content-length'] = String(request.body?.length ?? 0);
  return {...headers, ...forwardedFor(request)};
}

function forwardedFor({headers, peer}: ApiRequest): Headers {
  const before = headers['x-forwarded-for'];
  return peer?.address === undefined ? {} : {'x-forwarded-for': before === undefined ? peer.address : `${before}, ${peer.address}`};
}

/** What another origin may do with an answer is for this server to say. */
const crossOrigin = /^access-control-allow-(credentials|headers|methods|origin)$/;

export function answerHeaders({headers}: ApiResponse): ApiResponse['headers'] {
  const named = new Set([headers['connection'] ?? []].flat().flatMap((value) => listOf(value.toLowerCase())));
  const kept: ApiResponse['headers'] = {'cache-control': 'no-cache, private'};
  for (const [name, value] of Object.entries(headers)) {
    if (hopByHop.has(name) || named.has(name) || crossOrigin.test(name)) continue;
    kept[name] = name === 'cache-control' ? ['no-cache, private', ...[value].flat()] : value;
  }
  return kept;
}

const listOf = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
