/**
 * The `proxy` of a pod, a service or a node: any request, handed on to what stands behind the name and answered with what that says. Links back
 * (Location, HTML) are made to lead through the proxy again. Loaded with the first such request.
 */
import {posix} from 'node:path';
import type {Duplex} from 'node:stream';
import {failure} from '../../errors.ts';
import type {ApiResponse} from '../../http/messages.ts';
import {exchange} from '../../nodes/exchange.ts';
import {overTls} from '../../nodes/tls.ts';
import type {RequestContext} from '../context.ts';
import {answerHeaders, asksForUpgrade, requestHeaders, upgradeHeaders} from './forwarded-headers.ts';
import {htmlThrough, type Link, linkThrough} from './proxy-links.ts';
import {type Location, locate} from './proxy-location.ts';
import {dialing, dialRoad, discard, inTheWay, reaching} from './road.ts';

export async function proxy(context: RequestContext): Promise<ApiResponse> {
  const {request, info} = context;
  const location = await locate(context);
  const path = pathBehind(context);
  const search = searchOf(context);
  if (request.upgrade && asksForUpgrade(request.headers)) return upgraded(context, location, `${escapePath(path || '/')}${search}`);
  // So that relative links in what is answered lead below the proxy.
  if (path === '' && (info.method === 'GET' || info.method === 'HEAD'))
    return {status: 301, headers: {'cache-control': 'no-cache, private', location: `${escapePath(info.path)}/${search}`}};
  const prefix = info.path.slice(0, info.path.length - path.length);
  const headers = {...requestHeaders(request), 'x-forwarded-uri': escapePath(joinPaths(prefix, path))};
  const answer = await ask(context, location, reaching, (road) =>
    exchange(road, {
      method: info.method,
      target: `${escapePath(path || '/')}${search}`,
      headers,
      ...(request.body && {body: request.body}),
      ...(request.signal && {signal: request.signal}),
    }),
  );
  const link: Link = {prefix, hosts: [location.host, request.headers['host'] ?? '']};
  const answered: ApiResponse = {...answer, headers: answerHeaders(answer)};
  // Its length is that of another answer, or not known: that it has no bytes says nothing.
  if (info.method === 'HEAD') answered.body = nothing();
  const redirect = answered.headers['location'];
  if (typeof redirect === 'string' && redirect !== '') {
    answered.headers['location'] = linkThrough(link, redirect);
    return answered;
  }
  return isHtml(answered) ? htmlThrough(link, answered) : answered;
}

/** Nothing is rewritten behind the head of a 101. */
async function upgraded(context: RequestContext, location: Location, target: string): Promise<ApiResponse> {
  const {info, request} = context;
  const headers = upgradeHeaders(request);
  const answer = await ask(context, location, dialing, (road) =>
    exchange(road, {method: info.method, target, headers, ...(request.signal && {signal: request.signal})}),
  );
  if (answer.upgrade || answer.status >= 400) return answer;
  discard(answer);
  throw failure(500, '', `invalid upgrade response: status code ${answer.status}`);
}

/** @throws StatusError 503, 504 that begins with `words` */
async function ask(
  context: RequestContext,
  {node, to, tls}: Location,
  words: string,
  exchanged: (road: Duplex) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const road = await dialRoad(context, node, to, words);
  try {
    return await exchanged(tls ? await overTls(road, context.request.signal) : road);
  } catch (error) {
    throw inTheWay(error, words);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Decoded and clean; empty only where nothing, not even a slash, stands behind the word `proxy`. */
function pathBehind({info}: RequestContext): string {
  const rest = info.parts.slice(3).join('/');
  const isFolder = info.path.endsWith('/');
  if (rest === '') return isFolder ? '/' : '';
  const path = posix.normalize(`/${rest}`);
  return isFolder && !path.endsWith('/') ? `${path}/` : path;
}

function searchOf({request}: RequestContext): string {
  const search = request.search ?? new URLSearchParams(request.query as [string, string][]).toString();
  return search && `?${search}`;
}

const joinPaths = (prefix: string, path: string): string => posix.join(prefix, path);

/** As Go escapes a path: few signs stand for themselves. */
const escapePath = (path: string): string =>
  encodeURI(path).replace(/[!'()*?#]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const isHtml = ({headers}: ApiResponse): boolean =>
  String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim() === 'text/html';
