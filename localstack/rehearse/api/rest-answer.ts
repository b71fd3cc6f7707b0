/**
 * From what a function returned to what the client gets, and what API Gateway says by itself where there is no such answer.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format
 */
import type {GatewayResponse, RestApi} from './deployed.ts';
import {isBinary} from './rest-event.ts';

export interface HttpAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer;
}

interface ProxyResult {
  statusCode?: unknown;
  headers?: Record<string, unknown> | null;
  multiValueHeaders?: Record<string, unknown[]> | null;
  cookies?: unknown;
  body?: unknown;
  isBase64Encoded?: boolean;
}

/** Headers that API Gateway keeps for itself and hands on under another name. */
const remapped = new Set(['connection', 'content-md5', 'date', 'host', 'server', 'user-agent', 'www-authenticate', 'authorization']);
const dropped = new Set(['keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length']);

export function answerHeaders({headers, multiValueHeaders}: Pick<ProxyResult, 'headers' | 'multiValueHeaders'>): [string, string][] {
  const all: [string, string][] = [];
  const add = (name: string, value: unknown): void => {
    const lower = name.toLowerCase();
    if (value === null || value === undefined || dropped.has(lower)) return;
    all.push([remapped.has(lower) ? `x-amzn-Remapped-${name}` : name, String(value)]);
  };
  const multiple = new Set(Object.keys(multiValueHeaders ?? {}).map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(headers ?? {})) if (!multiple.has(name.toLowerCase())) add(name, value);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) for (const value of values) add(name, value);
  if (!all.some(([name]) => name.toLowerCase() === 'content-type')) all.push(['Content-Type', 'application/json']);
  return all;
}

/** Undefined where it is no answer of a proxy integration: API Gateway says 502. `accept`: the first media type decides on binary. */
export function proxyAnswer(payload: Buffer, accept: string | undefined, binaryMediaTypes: readonly string[]): HttpAnswer | undefined {
  let result: ProxyResult | null;
  try {
    result = JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const status = Number(result.statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const {body = '', isBase64Encoded = false} = result;
  if (body !== null && typeof body !== 'string') return undefined;
  const wanted = (accept ?? '*/*').split(',', 1)[0]!;
  const decode = isBase64Encoded && isBinary(wanted, binaryMediaTypes);
  return {status, headers: answerHeaders(result), body: Buffer.from(body ?? '', decode ? 'base64' : 'utf8')};
}

const own = {
  MISSING_AUTHENTICATION_TOKEN: {status: 403, message: 'Missing Authentication Token'},
  REQUEST_TOO_LARGE: {status: 413, message: 'Request Too Long'},
  INTEGRATION_TIMEOUT: {status: 504, message: 'Endpoint request timed out'},
  /** A function at its concurrency limit: API Gateway does not hand on Lambda's 429. */
  INTEGRATION_FAILURE: {status: 500, message: 'Internal server error'},
  API_CONFIGURATION_ERROR: {status: 500, message: 'Internal server error'},
  /** What a function that failed, or answered what is no answer, comes to. */
  BAD_GATEWAY: {status: 502, message: 'Internal server error'},
} as const;

export type OwnAnswer = keyof typeof own;

/** Through the API's gateway responses, as its template customized them. */
export function gatewayAnswer(type: OwnAnswer, api: RestApi, requestId: string): HttpAnswer {
  const {status, message} = own[type];
  const general = api.responses[status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'];
  const chosen: GatewayResponse | undefined = api.responses[type] ?? general;
  const template = chosen?.templates['application/json'] ?? '{"message":$context.error.messageString}';
  const body = template
    .replaceAll('$context.error.messageString', JSON.stringify(message))
    .replaceAll('$context.error.message', message)
    .replaceAll('$context.requestId', requestId);
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  for (const [name, value] of Object.entries(chosen?.headers ?? {})) headers.push([name, value]);
  return {status: chosen?.status ?? status, headers, body: Buffer.from(body)};
}
