/** `$connect`: a handshake. A credential in it is checked; without one the hello must bring it. Nothing can be posted before this has answered. */

import {bearerToken, protocolToken} from '../shared/auth/bearer.ts';
import {subprotocol} from '../shared/changes/protocol/messages.ts';
import {expiryOf} from '../shared/changes/protocol/server.ts';
import {isReason} from '../shared/errors.ts';
import {listing} from '../shared/registry/served/list.ts';
import {clusterOf} from './kit/cluster.ts';
import type {Connection} from './kit/connections.ts';
import {doors} from './kit/doors.ts';
import {handshakeOf} from './kit/socket-event.ts';
import {socketHandler} from './kit/socket-handler.ts';
import {authenticated} from './kit/socket-session.ts';
import {tablesOf} from './kit/tables.ts';
import {tunnelProtocol} from './kit/tunnel-session.ts';

const cluster = clusterOf('socket-connect', () => ({handlers: listing}));

export const handler = socketHandler(async ({connection}, raw) => {
  const request = handshakeOf(raw);
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const chosen = [subprotocol, tunnelProtocol].find((known) => offered.includes(known));
  if (chosen === undefined) return {statusCode: 400};
  const opened = await cluster.open();
  const now = doors.clock.now();
  const known: Connection = {connectedAt: now, ...(chosen === tunnelProtocol && {speaks: 'tunnel'})};
  try {
    const token = bearerToken(request.headers) ?? protocolToken(request.headers)?.token;
    if (token !== undefined || request.peer?.certificate)
      known.speaker = {user: await authenticated(opened, request), expiresAt: expiryOf(token, now)};
  } catch (error) {
    if (isReason(error, 'Unauthorized')) return {statusCode: 401};
    throw error;
  }
  const {connections} = await tablesOf(opened.environment);
  await connections.put(connection, known);
  return {statusCode: 200, headers: {'Sec-WebSocket-Protocol': chosen}};
});
