/** What is not a resource, by the first segment of its path. Each function has the endpoints that it is named after, a server all of them. */
import {genericError} from '../../errors.ts';
import type {ApiRequest, ApiResponse} from '../messages.ts';
import type {RequestInfo} from '../request-info.ts';

/** `rest`: the segments behind the first one. Undefined: there is no such page. */
export type Endpoint = (request: ApiRequest, rest: readonly string[]) => ApiResponse | undefined | Promise<ApiResponse | undefined>;

/** By first segment; the empty one is the root. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

export async function answerEndpoint(endpoints: Endpoints, request: ApiRequest, info: RequestInfo): Promise<ApiResponse> {
  const [first = '', ...rest] = info.path.split('/').filter(Boolean);
  const endpoint = Object.hasOwn(endpoints, first) ? endpoints[first]! : undefined;
  return (await endpoint?.(request, rest)) ?? pageNotFound();
}

/** @throws StatusError 405 */
export function requireGet({method}: ApiRequest): void {
  if (method !== 'GET') throw genericError(405, '', {group: '', resource: ''}, '');
}

export const noCache = {'cache-control': 'no-cache, private'};

export const indented = (object: object): ApiResponse => ({
  status: 200,
  headers: {...noCache, 'content-type': 'application/json'},
  body: Buffer.from(JSON.stringify(object, null, 2)),
});

const pageNotFound = (): ApiResponse => ({
  status: 404,
  headers: {...noCache, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff'},
  body: Buffer.from('404 page not found\n'),
});
