/**
 * The event that a REST API's proxy integration hands to a function. `path` stays percent-encoded and keeps its slashes; query and path
 * parameters are decoded; of what is repeated the single-valued form has the last.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-input-format
 */
import {randomBytes, randomUUID} from 'node:crypto';
import type {RestApi} from './deployed.ts';
import type {Match} from './resource-tree.ts';
import {addValue, lasts, type Values} from './values.ts';

export interface RestRequest {
  method: string;
  /** Without the stage, percent-encoded, without the query. */
  path: string;
  /** As sent, without the question mark. */
  query: string;
  /** Name and value in turn, as received. */
  rawHeaders: readonly string[];
  body: Buffer;
  sourceIp: string;
  receivedAt: Date;
}

/** Of this hop only: API Gateway takes them off. REST APIs refuse upgrades, so a request for one becomes a plain one. */
const ofTheHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect']);

export function restEvent(request: RestRequest, {resource, parameters}: Match, api: RestApi) {
  const headers = headersOf(request);
  const query = queryOf(request.query);
  const binary = isBinary(last(headers, 'content-type') ?? 'application/json', api.binaryMediaTypes);
  const requestId = randomUUID();
  return {
    resource: resource.path,
    path: request.path,
    httpMethod: request.method,
    headers: lasts(headers),
    multiValueHeaders: headers,
    queryStringParameters: request.query === '' ? null : lasts(query),
    multiValueQueryStringParameters: request.query === '' ? null : query,
    pathParameters: Object.keys(parameters).length === 0 ? null : mapValues(parameters, decoded),
    stageVariables: null,
    requestContext: {
      resourceId: resource.id,
      resourcePath: resource.path,
      operationName: undefined,
      httpMethod: request.method,
      extendedRequestId: randomBytes(11).toString('base64'),
      requestTime: clfTime(request.receivedAt),
      path: `/${api.stage}${request.path}`,
      accountId: api.accountId,
      protocol: 'HTTP/1.1',
      stage: api.stage,
      domainPrefix: api.id,
      requestTimeEpoch: request.receivedAt.getTime(),
      requestId,
      identity: {
        cognitoIdentityPoolId: null,
        accountId: null,
        cognitoIdentityId: null,
        caller: null,
        sourceIp: request.sourceIp,
        principalOrgId: null,
        accessKey: null,
        cognitoAuthenticationType: null,
        cognitoAuthenticationProvider: null,
        userArn: null,
        userAgent: last(headers, 'user-agent') ?? null,
        user: null,
      },
      domainName: `${api.id}.execute-api.${api.region}.amazonaws.com`,
      apiId: api.id,
    },
    body: request.body.length === 0 ? null : request.body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary && request.body.length > 0,
  };
}

export type RestEvent = ReturnType<typeof restEvent>;

function headersOf({rawHeaders, sourceIp}: RestRequest): Values {
  const values: Values = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!ofTheHop.has(name.toLowerCase())) addValue(values, name, rawHeaders[at + 1]!);
  }
  values['X-Forwarded-For'] = [sourceIp];
  values['X-Forwarded-Port'] = ['443'];
  values['X-Forwarded-Proto'] = ['https'];
  return values;
}

/** A semicolon splits as an ampersand does. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html */
function queryOf(query: string): Values {
  const values: Values = {};
  for (const part of query.split(/[&;]/)) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    addValue(values, decodedQuery(name), decodedQuery(value));
  }
  return values;
}

const decodedQuery = (text: string): string => decoded(text.replaceAll('+', ' '));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function last(values: Values, name: string): string | undefined {
  for (const [key, all] of Object.entries(values)) if (key.toLowerCase() === name) return all.at(-1);
  return undefined;
}

function mapValues<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** Whether API Gateway takes a media type for binary; parameters do not count. */
export function isBinary(mediaType: string, binaryMediaTypes: readonly string[]): boolean {
  const essence = mediaType.split(';', 1)[0]!.trim().toLowerCase();
  return binaryMediaTypes.some((type) => type === '*/*' || type.toLowerCase() === essence);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 21/Nov/2026:12:31:07 +0000 */
function clfTime(time: Date): string {
  const day = String(time.getUTCDate()).padStart(2, '0');
  return `${day}/${months[time.getUTCMonth()]}/${time.getUTCFullYear()}:${time.toISOString().slice(11, 19)} +0000`;
}
