/** `$disconnect`: tried once by the gateway (AWS); who is missed is found gone with the next message to them. */
import {Connections} from './kit/connections.ts';
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {socketHandler} from './kit/socket-handler.ts';

export const handler = socketHandler(async ({connection}) => {
  const {connectionsTable: table, cluster} = readEnvironment(doors.variables);
  if (table === undefined) throw new Error('the environment variable CLUSTERLESS_CONNECTIONS_TABLE is not set');
  const connections = new Connections({calls: await doors.calls(), table, cluster, now: () => doors.clock.now()});
  await connections.remove(connection);
  return {statusCode: 200};
});
