/** The whole API as one function from request to answer, with no server: what every adapter mounts. */
import type {TokenVerifier} from './auth/tokens.ts';
import type {UserInfo} from './auth/user.ts';
import type {Client} from './client/client.ts';
import type {Clock} from './clock.ts';
import type {ApiRequest, ApiResponse} from './http/messages.ts';
import type {NodeLiveness} from './nodes/liveness.ts';
import type {NodeRoads} from './nodes/roads.ts';
import type {Store} from './storage/contract.ts';

/** Line-oriented log that rooms write to; the local gateway backs it with pino. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ApiOptions {
  store: Store;
  clock?: Clock;
  log?: Log;
  /** Who every request is from, instead of authentication: for tests and in-process callers. */
  user?: UserInfo;
  /** `--token-auth-file`, already parsed. */
  staticTokens?: ReadonlyMap<string, UserInfo>;
  /** Of `k8s-aws-v1.` tokens: auth/aws-iam has one. */
  awsIam?: TokenVerifier;
  /** PEM of the private ECDSA P-256 key that signs service-account tokens; its public half verifies them. Generated when absent. */
  serviceAccountKey?: string;
  /** Default `https://kubernetes.default.svc`. */
  serviceAccountIssuer?: string;
  /** PEM that clients verify the server with: published as kube-root-ca.crt. */
  caCertificate?: string;
  /** PEM of the CA that client certificates are verified with. */
  clientCaCertificate?: string;
  /** CIDR for clusterIPs. Default 10.0.0.0/24. */
  serviceClusterIpRange?: string;
  /** Default 30000-32767. */
  serviceNodePortRange?: string;
  /** Where clients reach the server: published by discovery and the default/kubernetes endpoints. */
  advertise?: {address: string; port: number};
  /** Where the watch protocol (docs/watch-protocol.md) is served, an absolute URL or a path here: said to whoever asks for the version. */
  watchSocket?: string;
  /** Where connections tell which nodes live; else their Leases are renewed. */
  nodeLiveness?: NodeLiveness;
  /** Where agents open tunnels (docs/tunnel.md), an absolute URL or a path here: said to whoever asks for the version. */
  nodeTunnel?: string;
  /** The store is a copy of one that a start has brought in order: of that only where this server listens is written anew. */
  reconciled?: boolean;
  /** The way to nodes: without one, logs, exec and proxies are answered with 503. */
  nodes?: NodeRoads;
  /** How long history is kept for watches and exact lists, ms. Default 1 h. */
  watchHistoryMs?: number;
  /** Default 5 min. */
  continueTokenTtlMs?: number;
  livezGracePeriodMs?: number;
  /** Pods that wait for the default scheduler are bound by a minimal one, which steps back for the real. Default false. */
  binder?: boolean;
}

export interface Api {
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Who a request is from, for connections that carry many. @throws StatusError 401 */
  authenticate(request: Pick<ApiRequest, 'headers' | 'peer'>): Promise<UserInfo>;
  /** Writes what every cluster starts with, starts the controllers, resolves when readyz would say ok. */
  start(): Promise<void>;
  /** readyz fails from now on; the rest goes on. */
  drain(): void;
  /** Ends watches cleanly and stops the controllers; requests under way finish. Leaves the store open. */
  close(): Promise<void>;
  /** The API as system:masters, without HTTP. */
  readonly client: Client;
  readonly store: Store;
}
