/** From a request to an answer that can be written as it is: the API's, compressed where asked for, and a Status if the API itself breaks. */
import type {Api, Log} from '../../shared/api.ts';
import {internalError, type StatusError, tooManyRequests} from '../../shared/errors.ts';
import {compressed, worthCompressing} from '../../shared/http/compress.ts';
import type {ApiResponse} from '../../shared/http/messages.ts';
import type {BodyBudget} from './body.ts';
import type {GatewayRequest} from './request.ts';

/** What of an API is served. One that cannot say who somebody is serves no watches over WebSocket. */
export type ServedApi = Pick<Api, 'handle'> & Partial<Pick<Api, 'authenticate'>>;

/** What the two protocols share: the API, the log, and how many requests are under way. */
export interface Desk {
  api: ServedApi;
  readonly log: Log | undefined;
  /** Set once the gateway closes: HTTP/1 answers then say so. */
  closing: boolean;
  inFlight: number;
  readonly bodies: BodyBudget;
  /** Every request leaves a line in the log. */
  readonly trace: boolean;
}

/** The reference's words for requests that its flow control turns away. */
export const overloaded = (): ApiResponse => statusResponse(tooManyRequests('Too many requests, please try again later.', 1));

export function answer(desk: Desk, request: GatewayRequest): Promise<ApiResponse> {
  return desk.trace ? traced(desk, request) : answered(desk, request);
}

async function traced(desk: Desk, request: GatewayRequest): Promise<ApiResponse> {
  const begin = performance.now();
  const response = await answered(desk, request);
  const query = request.query.length > 0 ? {query: new URLSearchParams(request.query as [string, string][]).toString()} : {};
  const fields = {
    method: request.method,
    path: request.path,
    ...query,
    status: response.status,
    ms: Number((performance.now() - begin).toFixed(2)),
  };
  desk.log?.info({...fields, agent: request.headers['user-agent']}, 'request');
  return response;
}

async function answered(desk: Desk, request: GatewayRequest): Promise<ApiResponse> {
  try {
    const response = await desk.api.handle(request);
    return worthCompressing(response, request.headers['accept-encoding']) ? await compressed(response) : response;
  } catch (error) {
    desk.log?.error({err: error, method: request.method, path: request.path}, 'request failed outside of the API');
    return statusResponse(internalError(error));
  }
}

function statusResponse(error: StatusError): ApiResponse {
  return {
    status: error.status.code,
    headers: {'content-type': 'application/json', 'cache-control': 'no-cache, private', ...error.headers},
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  };
}

export const isStream = (body: ApiResponse['body']): body is AsyncIterable<Uint8Array> =>
  body !== undefined && !(body instanceof Uint8Array);

/** Answers that have no body by definition must not announce the length of one. */
export const bodiless = (status: number): boolean => status === 204 || status === 304 || status < 200;
