/** What the functions of the WebSocket API and of its changes share: the API, the table of connections, and the way to post to them. */
import {listing} from '../../shared/registry/served/list.ts';
import type {FunctionName} from '../functions.ts';
import {clusterOf} from './cluster.ts';
import {doors} from './doors.ts';
import type {SocketParts} from './socket-session.ts';
import {openSockets, type Sockets} from './sockets.ts';
import {tablesOf} from './tables.ts';

/** What subscriptions are authorized with is a watch like any other. */
const served = () => ({handlers: listing});

/** `callback`: where to post to, when the environment does not say. */
export function socketParts(name: FunctionName): (callback?: string) => Promise<SocketParts> {
  const cluster = clusterOf(name, served);
  const sockets = new Map<string, Promise<Sockets>>();
  return async (callback) => {
    const opened = await cluster.open();
    const endpoint = opened.environment.socketCallback ?? callback;
    if (endpoint === undefined) throw new Error('the environment variable CLUSTERLESS_SOCKET_CALLBACK is not set');
    const own = sockets.get(endpoint) ?? (doors.openSockets ? doors.openSockets(endpoint) : openSockets(endpoint, doors.clock));
    sockets.set(endpoint, own);
    return {cluster: opened, ...(await tablesOf(opened.environment)), sockets: await own};
  };
}
