/** The OpenAPI routes: which document, in which form, and the headers by which clients keep it. */
import type {ApiRequest, ApiResponse} from '../messages.ts';
import {queryValue} from '../request-info.ts';
import {negotiateOpenApi, type OpenApi, type OpenApiAnswer} from './openapi.ts';

const noCache = {'cache-control': 'no-cache, private'};
const yearMs = 365 * 24 * 3_600_000;
/** No Status here: the reference answers without a body. */
const noDocument: ApiResponse = {status: 404, headers: noCache};

/** `path`: the segments behind /openapi. Undefined: there is no such document. */
export function answerOpenApi(openapi: OpenApi, request: ApiRequest, path: readonly string[], now: number): ApiResponse | undefined {
  const [version, ...rest] = path;
  if (version === 'v2' && rest.length === 0 && !request.path.endsWith('/'))
    return document(request, 2, (format) => openapi.documentV2(format));
  if (version !== 'v3') return undefined;
  if (request.path.endsWith('/')) return noDocument;
  if (rest.length === 0) {
    const {bytes, contentType} = openapi.indexV3();
    return {status: 200, headers: {...noCache, 'content-type': contentType}, body: bytes};
  }
  return document(request, 3, (format) => openapi.documentV3(rest.join('/'), format), {path: `/openapi/v3/${rest.join('/')}`, now});
}

function document(
  request: ApiRequest,
  version: 2 | 3,
  find: (format: 'json' | 'protobuf') => OpenApiAnswer | undefined,
  byHash?: {path: string; now: number},
): ApiResponse | undefined {
  const format = negotiateOpenApi(request.headers['accept'], version);
  const vary = version === 2 ? 'Accept-Encoding, Accept' : 'Accept';
  if (!format) return {status: 406, headers: {...noCache, vary}};
  const found = find(format);
  if (!found) return noDocument;
  const {gzip, contentType, etag} = found;
  const headers: Record<string, string> = {...noCache, 'content-type': contentType, etag, vary};
  const hash = queryValue(request.query, 'hash');
  if (byHash && hash) {
    const current = etag.slice(1, -1);
    // A name with its content's hash is good for ever; an outdated one is told the new name.
    if (hash !== current) return {status: 301, headers: {...headers, location: `${byHash.path}?hash=${current}`}};
    headers['cache-control'] = 'public, immutable';
    headers['expires'] = new Date(byHash.now + yearMs).toUTCString().replace('GMT', 'UTC');
  }
  if (isCurrent(request.headers['if-none-match'], etag)) return {status: 304, headers: {...noCache, etag, vary}};
  if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
    return {status: 200, headers: {...headers, 'content-encoding': 'gzip'}, body: gzip};
  return {status: 200, headers, body: found.bytes};
}

const isCurrent = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((known) => ['*', etag, `W/${etag}`].includes(known.trim())) === true;
