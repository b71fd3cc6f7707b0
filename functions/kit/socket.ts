/** What the functions of the WebSocket API and of its changes share: the API, the table of connections, and the way to post to them. */
import type {RequestContext} from '../../shared/registry/context.ts';
import {listing} from '../../shared/registry/served/list.ts';
import type {FunctionName} from '../functions.ts';
import {clusterOf} from './cluster.ts';
import {headRoads} from './head-roads.ts';
import type {SocketParts} from './socket-session.ts';
import {type Sockets, socketsAt} from './sockets.ts';
import {tablesOf} from './tables.ts';

/** What subscriptions are authorized with is a watch like any other, and what is dialled a request that connects. */
const served = () => ({
  handlers: {
    ...listing,
    connect: async (context: RequestContext) => (await import('../../shared/registry/subresources/connect.ts')).connect(context),
  },
});

/** `callback`: where to post to, when the environment does not say. */
export function socketParts(name: FunctionName): (callback?: string) => Promise<SocketParts> {
  const cluster = clusterOf(name, served, (environment) => ({nodes: headRoads(async () => (await tablesOf(environment)).tunnels)}));
  const sockets = new Map<string, Promise<Sockets>>();
  return async (callback) => {
    const opened = await cluster.open();
    const endpoint = opened.environment.socketCallback ?? callback;
    if (endpoint === undefined) throw new Error('the environment variable CLUSTERLESS_SOCKET_CALLBACK is not set');
    const own = sockets.get(endpoint) ?? socketsAt(endpoint);
    sockets.set(endpoint, own);
    return {cluster: opened, ...(await tablesOf(opened.environment)), sockets: await own};
  };
}
