/** The package's face: a cluster in one call, the API without a server, and the stores to put under it. */
import type {ConnectOptions, KubeClient} from '../shared/client/node/connect.ts';
import {createApi} from '../shared/create-api.ts';
import {openEmbedded, openMemory} from '../shared/storage/embedded/open.ts';
import {type Cluster, type ClusterOptions, startClusterFrom} from './cluster.ts';
import {openDynamo} from './dynamo.ts';

export type {Api, ApiOptions, Log} from '../shared/api.ts';
export type {UserInfo} from '../shared/auth/user.ts';
export type {ApplyOptions, Client, ListResult, ResourcePath} from '../shared/client/client.ts';
export type {Informer, InformerHandlers} from '../shared/client/informer.ts';
export type {ConnectOptions, KubeClient} from '../shared/client/node/connect.ts';
export type {Credentials} from '../shared/client/node/credentials.ts';
export type {WatchListener, WatchTarget} from '../shared/client/watches.ts';
export type {ApiRequest, ApiResponse, Peer} from '../shared/http/messages.ts';
export type {Store} from '../shared/storage/contract.ts';
export type {Cluster, ClusterOptions} from './cluster.ts';
export {createApi, openEmbedded, openMemory};

/**
 * A client of any Kubernetes server, from a kubeconfig (default: as kubectl finds it) or from within a pod. Watches go over one WebSocket
 * where the server offers it.
 * @throws CredentialsError
 */
export const connect = async (options: ConnectOptions = {}): Promise<KubeClient> =>
  (await import('../shared/client/node/connect.ts')).connect(options);

/**
 * Starts a cluster on this machine; by default on a free port of 127.0.0.1, kept in `.clusterless`.
 * @throws StoreError InUse, NewerFormat, Corrupt; CertificateError; the error of listen (`code` EADDRINUSE and its like)
 */
export const startCluster = (options: ClusterOptions = {}): Promise<Cluster> =>
  startClusterFrom({createApi, openEmbedded, openMemory, openDynamo}, options);
