/** `$default`: what a connection says: a watcher's, or a node's tunnel. */
import {socketParts} from './kit/socket.ts';
import {socketHandler} from './kit/socket-handler.ts';
import {receive} from './kit/socket-session.ts';
import {isKnownTunnel, receiveTunnel} from './kit/tunnel-session.ts';

const parts = socketParts('socket-message');

export const handler = socketHandler(async ({connection, callback, text}) => {
  const opened = await parts(callback);
  if (isKnownTunnel(connection)) await receiveTunnel(opened, connection, text);
  else {
    const known = await opened.connections.read(connection);
    if (known?.connection.speaks === 'tunnel') await receiveTunnel(opened, connection, text, known.connection);
    else await receive(opened, connection, text, known);
  }
  return {statusCode: 200};
});
