/**
 * A request of API Gateway's REST proxy integration as plain data. What AWS documents and what emulators send differ in details: the path
 * arrives as it was sent, or decoded; repeated headers as a list, or joined. Both are understood.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
import {badRequest} from '../../shared/errors.ts';
import type {ApiRequest} from '../../shared/http/messages.ts';
import {peerOf} from './peer.ts';

type Fields = Record<string, unknown>;

/** @throws StatusError 400 for an event that is none of a REST proxy integration, saying what is wrong with it */
export function requestOf(event: unknown, {basePath = ''}: {basePath?: string | undefined} = {}): ApiRequest {
  const fields = fieldsOf(event);
  const method = fields['httpMethod'] as string;
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(fields);
  return {
    method,
    path: pathOf(fields['path'] as string, basePath),
    query: valuesOf(fields, 'multiValueQueryStringParameters', 'queryStringParameters'),
    headers: headersOf(fields),
    ...(body && {body}),
    peer: peerOf(fields['requestContext']),
  };
}

function fieldsOf(event: unknown): Fields {
  if (!isFields(event)) throw foreign(`it is ${event == null ? event : Array.isArray(event) ? 'a list' : `a ${typeof event}`}`);
  if (event['version'] === '2.0') throw foreign('it is of an HTTP API or a function URL, in payload format 2.0');
  if (Array.isArray(event['Records'])) throw foreign('it is a batch of records');
  for (const name of ['httpMethod', 'path']) if (typeof event[name] !== 'string' || event[name] === '') throw foreign(`it has no ${name}`);
  if (!(event['path'] as string).startsWith('/')) throw foreign('its path does not begin with a slash');
  return event;
}

const foreign = (why: string) => badRequest(`not an event of an API Gateway REST proxy integration: ${why}`);

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
/** What no path on the wire can have in it, and `?` and `#`, which would have ended it. */
const notOnTheWire = /[^\x21-\x7e]|["#<>?\\^`{|}]/;

/** The path as it was sent, still encoded, below the mapping of a custom domain. */
function pathOf(path: string, basePath: string): string {
  const encoded = brokenEscape.test(path) || notOnTheWire.test(path) ? encodeURI(path).replace(/[?#]/g, encodeURIComponent) : path;
  if (basePath === '' || !(encoded === basePath || encoded.startsWith(`${basePath}/`))) return encoded;
  return encoded.slice(basePath.length) || '/';
}

/** Pairs of name and value. The list of all values counts; where it is missing, the one that stands for them. */
function valuesOf(fields: Fields, every: string, one: string): [string, string][] {
  const {[every]: lists, [one]: singles} = fields;
  if (isFields(lists)) return Object.entries(lists).flatMap(([name, list]) => stringsOf(list, every, name).map(pair(name)));
  if (isFields(singles)) return Object.entries(singles).flatMap(([name, value]) => stringsOf([value], one, name).map(pair(name)));
  return [];
}

const pair =
  (name: string) =>
  (value: string): [string, string] => [name, value];

function stringsOf(list: unknown, field: string, name: string): string[] {
  if (!Array.isArray(list) || !list.every((value) => typeof value === 'string'))
    throw foreign(`${JSON.stringify(name)} in its ${field} has a value that is no string`);
  return list;
}

function headersOf(fields: Fields): Record<string, string> {
  // Named by strangers: `constructor` is no header unless it was sent.
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of valuesOf(fields, 'multiValueHeaders', 'headers')) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return headers;
}

function bodyOf({body, isBase64Encoded}: Fields): Uint8Array | undefined {
  if (body === null || body === undefined || body === '') return undefined;
  if (typeof body !== 'string') throw foreign('its body is no string');
  if (isBase64Encoded !== true) return Buffer.from(body);
  const bytes = Buffer.from(body, 'base64');
  // Node decodes what it can and passes over the rest: bytes would be lost in silence.
  if (bytes.length !== Math.floor((body.replace(/=+$/, '').length * 3) / 4)) throw foreign('its body is not base64');
  return bytes;
}
