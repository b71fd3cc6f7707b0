/** `$disconnect`: tried once by the gateway (AWS); who is missed is found gone with the next message to them, a node by its silence. */
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {socketHandler} from './kit/socket-handler.ts';
import {socketsAt} from './kit/sockets.ts';
import {tablesOf} from './kit/tables.ts';
import {endStreams} from './kit/tunnel-frames.ts';

export const handler = socketHandler(async ({connection, callback}) => {
  const environment = readEnvironment(doors.variables);
  const {connections, tunnels, streams} = await tablesOf(environment);
  const gone = await connections.remove(connection);
  if (gone?.node !== undefined) await tunnels.ended(gone.node, connection);
  const endpoint = environment.socketCallback ?? callback;
  if (gone?.speaks === 'tunnel' && endpoint !== undefined) await endStreams({streams, sockets: () => socketsAt(endpoint)}, connection);
  return {statusCode: 200};
});
