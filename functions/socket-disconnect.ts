/** `$disconnect`: tried once by the gateway (AWS); who is missed is found gone with the next message to them, a node by its silence. */
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {socketHandler} from './kit/socket-handler.ts';
import {tablesOf} from './kit/tables.ts';

export const handler = socketHandler(async ({connection}) => {
  const {connections, tunnels} = await tablesOf(readEnvironment(doors.variables));
  const gone = await connections.remove(connection);
  if (gone?.node !== undefined) await tunnels.ended(gone.node, connection);
  return {statusCode: 200};
});
