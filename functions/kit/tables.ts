/** The table of connections, as those see it who have to do with it. */
import type {NodeLiveness} from '../../shared/nodes/liveness.ts';
import {Connections} from './connections.ts';
import {doors} from './doors.ts';
import type {Environment} from './environment.ts';
import {Streams} from './streams.ts';
import {Tunnels} from './tunnels.ts';

export interface Tables {
  connections: Connections;
  tunnels: Tunnels;
  streams: Streams;
}

/** @throws Error where there is no such table */
export async function tablesOf({connectionsTable: table, cluster}: Environment): Promise<Tables> {
  if (table === undefined) throw new Error('the environment variable CLUSTERLESS_CONNECTIONS_TABLE is not set');
  const options = {calls: await doors.calls(), table, cluster, now: () => doors.clock.now()};
  return {connections: new Connections(options), tunnels: new Tunnels(options), streams: new Streams(options)};
}

/** Of functions that are told where connections are. */
export function livenessOf(environment: Environment): NodeLiveness | undefined {
  if (environment.connectionsTable === undefined) return undefined;
  return {lastSeen: async (name) => (await tablesOf(environment)).tunnels.lastSeen(name)};
}
