/**
 * Events of a WebSocket API: a connection that is opened, speaks, or is gone.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-mapping-template-reference.html
 */
import type {ApiRequest} from '../../shared/http/messages.ts';
import {requestOf} from './proxy-event.ts';

export interface SocketEvent {
  connection: string;
  /** Where messages to it are posted. */
  callback: string | undefined;
  text: string;
}

/** @throws Error for what is no event of a WebSocket API */
export function socketEventOf(event: unknown): SocketEvent {
  const {requestContext, body, isBase64Encoded} = (event ?? {}) as {
    requestContext?: Record<string, unknown>;
    body?: unknown;
    isBase64Encoded?: unknown;
  };
  const {connectionId, domainName, stage} = requestContext ?? {};
  if (typeof connectionId !== 'string' || connectionId === '')
    throw new Error('not an event of an API Gateway WebSocket API: it has no requestContext.connectionId');
  return {
    connection: connectionId,
    callback: typeof domainName === 'string' && typeof stage === 'string' ? `https://${domainName}/${stage}` : undefined,
    text: typeof body !== 'string' ? '' : isBase64Encoded === true ? Buffer.from(body, 'base64').toString() : body,
  };
}

/** The handshake as a request that can be authenticated: only `$connect` has headers. */
export function handshakeOf(event: unknown): ApiRequest {
  const request = requestOf({...(event as object), httpMethod: 'GET', path: '/', body: null});
  // The gateway keeps to itself what makes it an upgrade.
  return {...request, headers: {...request.headers, upgrade: 'websocket', connection: 'upgrade'}};
}
