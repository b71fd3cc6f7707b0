/** The roads to nodes of the function `connect`. */
import type {MoreOf} from './cluster.ts';
import {NodeRoad} from './node-road.ts';
import {type Sockets, socketsAt} from './sockets.ts';
import {tablesOf} from './tables.ts';

export const roadsOf: MoreOf = (environment) => {
  const {socketCallback, connectionsTable} = environment;
  if (socketCallback === undefined || connectionsTable === undefined) return {};
  let sockets: Promise<Sockets> | undefined;
  return {
    nodes: new NodeRoad(async () => {
      sockets ??= socketsAt(socketCallback);
      return {...(await tablesOf(environment)), sockets: await sockets};
    }),
  };
};
