/**
 * Text from strangers into messages, in both directions. Whatever is wrong with it becomes a ProtocolError that names the field;
 * unknown fields are passed over, so that later versions may add some.
 */
import type {Status} from '../../errors.ts';
import type {Revision} from '../../storage/contract.ts';
import {maxIdLength, maxMessageBytes, maxParts} from './limits.ts';
import type {ClientMessage, Collection, Progress, ServerMessage, SubscribeMessage, WireEvent} from './messages.ts';

export class ProtocolError extends Error {
  /** The subscription that it is about, where that could be read. */
  readonly id: string | undefined;
  /** The peer speaks something else altogether: there is nothing to go on with. */
  readonly fatal: boolean;

  constructor(message: string, {id, fatal = false}: {id?: string; fatal?: boolean} = {}) {
    super(message);
    this.name = 'ProtocolError';
    this.id = id;
    this.fatal = fatal;
  }
}

type Fields = Record<string, unknown>;

/** @throws ProtocolError */
export function decodeClientMessage(text: string): ClientMessage {
  // A character is at most three bytes for each unit: only what might be too long is measured.
  if (text.length * 3 > maxMessageBytes && Buffer.byteLength(text) > maxMessageBytes)
    throw new ProtocolError(`a message must not be longer than ${maxMessageBytes} bytes`, {fatal: true});
  const fields = parseHead(text);
  switch (fields['action']) {
    case 'hello':
      return {action: 'hello', ...(fields['token'] !== undefined && {token: string(fields, 'token', maxMessageBytes)})};
    case 'subscribe':
      return about(fields, subscribe);
    case 'unsubscribe':
      return {action: 'unsubscribe', id: idOf(fields)};
    case 'replay':
      return about(fields, (id) => ({action: 'replay', id, from: revision(fields, 'from', 0)}));
    case 'ping':
      return {action: 'ping'};
    default:
      throw new ProtocolError(`unknown action ${quote(fields['action'])}`, {fatal: true});
  }
}

/** What goes wrong from here on is about one subscription. */
function about<T>(fields: Fields, decode: (id: string, fields: Fields) => T): T {
  const id = idOf(fields);
  try {
    return decode(id, fields);
  } catch (error) {
    throw error instanceof ProtocolError ? new ProtocolError(error.message, {id}) : error;
  }
}

function subscribe(id: string, fields: Fields): SubscribeMessage {
  const collection = object(fields, 'collection');
  return {
    action: 'subscribe',
    id,
    collection: {
      group: pathSegment(collection, 'group', true),
      version: pathSegment(collection, 'version'),
      resource: pathSegment(collection, 'resource'),
      namespace: pathSegment(collection, 'namespace', true),
    } satisfies Collection,
    labelSelector: optional(fields, 'labelSelector'),
    fieldSelector: optional(fields, 'fieldSelector'),
    accept: optional(fields, 'accept') || 'application/json',
    resourceVersion: revision(fields, 'resourceVersion', 1),
  };
}

/** @throws ProtocolError */
export function decodeServerMessage(text: string): ServerMessage | undefined {
  const end = text.indexOf('\n');
  const fields = parseHead(end < 0 ? text : text.slice(0, end));
  const body = end < 0 ? '' : text.slice(end + 1);
  switch (fields['action']) {
    case 'events':
      return {
        action: 'events',
        topic: string(fields, 'topic'),
        from: revision(fields, 'from', 0),
        to: revision(fields, 'to', 0),
        events: events(fields, body),
      };
    case 'part':
      return {
        action: 'part',
        of: string(fields, 'of'),
        part: number(fields, 'part', 1, maxParts),
        parts: number(fields, 'parts', 1, maxParts),
        text: body,
      };
    case 'subscribed':
      return {
        action: 'subscribed',
        id: idOf(fields),
        topic: string(fields, 'topic'),
        resourceVersion: revision(fields, 'resourceVersion', 0),
      };
    case 'pong':
      return {action: 'pong', progress: progress(object(fields, 'progress'))};
    case 'welcome':
      return {
        action: 'welcome',
        renewSeconds: number(fields, 'renewSeconds', 1, 1e9),
        pingSeconds: number(fields, 'pingSeconds', 1, 1e9),
        reconnectSeconds: number(fields, 'reconnectSeconds', 1, 1e9),
        maxSubscriptions: number(fields, 'maxSubscriptions', 1, 1e9),
      };
    case 'error':
      return {
        action: 'error',
        ...(fields['id'] !== undefined && {id: idOf(fields)}),
        status: object(fields, 'status') as unknown as Status,
      };
    case 'bye':
      return {action: 'bye', code: number(fields, 'code', 1000, 4999), reason: string(fields, 'reason')};
    default:
      // A later server may say more, and API Gateway says `{"message": ...}` when a function behind it failed.
      return undefined;
  }
}

function events(fields: Fields, body: string): WireEvent[] {
  const revisions = fields['revisions'];
  if (!Array.isArray(revisions)) throw new ProtocolError('revisions must be a list');
  const lines = body.split('\n');
  if (lines.length !== revisions.length + 1) throw new ProtocolError(`${revisions.length} revisions for ${lines.length - 1} events`);
  return revisions.map((_, at) => ({revision: revision(revisions as unknown as Fields, String(at), 0), line: lines[at]!}));
}

function progress(fields: Fields): Record<string, Progress> {
  const out: Record<string, Progress> = Object.create(null);
  for (const [id, pair] of Object.entries(fields)) {
    if (!Array.isArray(pair)) throw new ProtocolError('progress must hold pairs');
    out[id] = [revision(pair as unknown as Fields, '0', 0), revision(pair as unknown as Fields, '1', 0)];
  }
  return out;
}

function parseHead(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError('a message must be JSON', {fatal: true});
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProtocolError('a message must be a JSON object', {fatal: true});
  return value as Fields;
}

/** Values as they came, but never so long that an error message becomes the problem. */
const quote = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing';

function string(fields: Fields, name: string, maxLength = 4_096): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new ProtocolError(`${name} must be a string`);
  if (value.length > maxLength) throw new ProtocolError(`${name} must not be longer than ${maxLength} characters`);
  return value;
}

const optional = (fields: Fields, name: string): string => (fields[name] === undefined ? '' : string(fields, name, maxMessageBytes));

function idOf(fields: Fields): string {
  const id = string(fields, 'id', maxIdLength);
  if (!/^[\w.-]+$/.test(id) || id === '__proto__') throw new ProtocolError(`id ${quote(id)} must be of letters, digits, "_", "-" and "."`);
  return id;
}

/** A word that becomes part of a path. */
function pathSegment(fields: Fields, name: string, mayBeEmpty = false): string {
  const value = mayBeEmpty && fields[name] === undefined ? '' : string(fields, name, 253);
  if (value === '' && mayBeEmpty) return value;
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value)) throw new ProtocolError(`collection.${name} ${quote(value)} is not a name`);
  return value;
}

function object(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ProtocolError(`${name} must be an object`);
  return value as Fields;
}

function number(fields: Fields, name: string, least: number, most: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new ProtocolError(`${name} must be a whole number between ${least} and ${most}`);
  return value;
}

/** Decimal, in a string: as every resourceVersion. */
function revision(fields: Fields, name: string, least: number): Revision {
  const value = fields[name];
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value)) || Number(value) < least)
    throw new ProtocolError(`${name} ${quote(value)} must be a resourceVersion${least > 0 ? ' from which to go on' : ''}`);
  return Number(value);
}
