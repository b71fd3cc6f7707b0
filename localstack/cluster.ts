/**
 * A cluster on this machine: a store, the API over it, and the gateway in front, started and stopped in the right order. What people
 * who test operators use as a library, and what `clusterless up` wraps in flags and signals.
 */
import {randomBytes} from 'node:crypto';
import {mkdir, rm} from 'node:fs/promises';
import {networkInterfaces} from 'node:os';
import {join, resolve} from 'node:path';
import type {Api, ApiOptions, Log} from '../shared/api.ts';
import {mastersGroup, type UserInfo} from '../shared/auth/user.ts';
import type {Store} from '../shared/storage/contract.ts';
import {adminName, defaultNames, issueClient, loadOrCreatePki, type Pki} from './certificates.ts';
import {type Gateway, openGateway} from './gateway/gateway.ts';
import {nodeTunnelPath, watchSocketPath} from './gateway/upgrade.ts';
import {kubeconfigText, writePrivately} from './kubeconfig.ts';
import {parseListen, urlOf} from './listen.ts';
import {WaysToNodes} from './nodes.ts';

export interface ClusterOptions {
  /** Nothing is kept, nothing is written to disk (a kubeconfig only where one is asked for). Default false. */
  inMemory?: boolean;
  /** Objects live in DynamoDB, where several clusters' processes may serve the same content; certificates stay in the folder. */
  dynamo?: DynamoOptions;
  /** Folder of the store, certificates and kubeconfig. Default `.clusterless`. */
  data?: string;
  /** Default `127.0.0.1:0`: a free port. */
  listen?: string;
  /** File to write the kubeconfig to. Default DATA/kubeconfig; none in memory. */
  kubeconfig?: string;
  /** More names and addresses for the serving certificate. */
  tlsSans?: readonly string[];
  /** A serving certificate of your own. The kubeconfig then trusts `certificateFile` itself. */
  tls?: {certificateFile: string; keyFile: string};
  staticTokens?: ReadonlyMap<string, UserInfo>;
  /** Also make a bearer token for system:masters that lives as long as the process. Default true. */
  adminToken?: boolean;
  serviceAccountIssuer?: string;
  serviceClusterIpRange?: string;
  serviceNodePortRange?: string;
  watchHistoryMs?: number;
  continueTokenTtlMs?: number;
  livezGracePeriodMs?: number;
  /** Pods that wait for the default scheduler get a node, if there is one, until a real scheduler comes. Default false. */
  binder?: boolean;
  log?: Log;
  /** Every request leaves a line in the log. */
  logRequests?: boolean;
}

export interface DynamoOptions {
  /** Of DynamoDB Local or another emulator, whose tables are made when they are not there. Default: the region's own. */
  endpoint?: string;
  region?: string;
  /** Default `clusterless-`. */
  tablePrefix?: string;
}

export interface Cluster {
  readonly url: string;
  readonly port: number;
  /** YAML text: server, CA, and the admin's client certificate. */
  readonly kubeconfig: string;
  readonly kubeconfigPath?: string;
  /** PEM. */
  readonly caCertificate: string;
  /** PEM, of whoever signs client certificates. */
  readonly clientCaCertificate: string;
  readonly adminToken?: string;
  readonly api: Api;
  /** A kubeconfig for another user: a client certificate from the cluster's CA, good for a year. */
  kubeconfigFor(user: {name: string; groups?: readonly string[]}): Promise<string>;
  /** An independent cluster in memory with the same content, on a port of its own. */
  fork(): Promise<Cluster>;
  /** readyz fails from now on; everything else goes on. */
  drain(): void;
  /** Ends watches, lets requests under way finish for at most `graceMs` (default 10 s), closes the store. */
  close(options?: {graceMs?: number}): Promise<void>;
}

/** The rooms that a cluster is made of: an argument, so that this file's tests need only this file. */
export interface Parts {
  createApi(options: ApiOptions): Api;
  openEmbedded(options: {path: string}): Promise<Store>;
  openMemory(): Promise<Store>;
  openDynamo(options: DynamoOptions & {historyMs?: number}): Promise<Store>;
}

const defaultClusterIpRange = '10.0.0.0/24';

/** The service `kubernetes` has the first address of the range. */
export function firstServiceIp(range: string): string {
  const [network = ''] = range.split(',')[0]!.split('/');
  if (network.includes(':'))
    return network.endsWith('::') ? `${network}1` : network.replace(/[^:]+$/, (last) => (Number.parseInt(last, 16) + 1).toString(16));
  const bytes = network.split('.').map(Number);
  bytes[3] = (bytes[3] ?? 0) + 1;
  return bytes.join('.');
}

/**
 * @throws StoreError InUse, NewerFormat, Corrupt; CertificateError; the error of listen (`code` EADDRINUSE and its like)
 */
export async function startClusterFrom(parts: Parts, options: ClusterOptions = {}): Promise<Cluster> {
  const data = resolve(options.data ?? '.clusterless');
  const endpoint = parseListen(options.listen ?? '127.0.0.1:0');
  const names = defaultNames(firstServiceIp(options.serviceClusterIpRange ?? defaultClusterIpRange), options.tlsSans);
  if (!options.inMemory) await mkdir(data, {recursive: true, mode: 0o700});
  // The store first: whoever holds it also owns the certificates beside it.
  const store = await openStore(parts, options, data);
  try {
    const pki = await loadOrCreatePki({
      ...(!options.inMemory && {folder: join(data, 'pki')}),
      names,
      ...(options.tls && {serving: options.tls}),
    });
    const kubeconfigPath = options.kubeconfig ? resolve(options.kubeconfig) : options.inMemory ? undefined : join(data, 'kubeconfig');
    return await raise(parts, {...options, kubeconfig: kubeconfigPath}, endpoint, pki, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openStore(parts: Parts, {dynamo, inMemory, watchHistoryMs}: ClusterOptions, data: string): Promise<Store> {
  if (dynamo) return parts.openDynamo({...dynamo, ...(watchHistoryMs !== undefined && {historyMs: watchHistoryMs})});
  return inMemory ? parts.openMemory() : parts.openEmbedded({path: join(data, 'store')});
}

async function raise(
  parts: Parts,
  options: Omit<ClusterOptions, 'kubeconfig'> & {kubeconfig: string | undefined; reconciled?: boolean},
  endpoint: {host: string; port: number},
  pki: Pki,
  store: Store,
): Promise<Cluster> {
  const nodes = new WaysToNodes(pki.agentClient);
  const gateway = await openGateway({
    ...endpoint,
    tunnels: () => nodes.tunnels(),
    tls: {key: pki.serving.key, certificate: pki.serving.certificate, clientCa: pki.ca.certificate},
    ...(options.log && {log: options.log}),
    trace: options.logRequests ?? false,
  });
  let api: Api | undefined;
  try {
    const url = urlOf({host: endpoint.host, port: gateway.port});
    const trusted = options.tls ? pki.serving.certificate : pki.ca.certificate;
    const adminToken = options.adminToken === false ? undefined : randomBytes(24).toString('base64url');
    const staticTokens = new Map(options.staticTokens);
    if (adminToken !== undefined) staticTokens.set(adminToken, {name: adminName, groups: [mastersGroup]});
    api = parts.createApi({
      store,
      staticTokens,
      serviceAccountKey: pki.serviceAccountKey,
      caCertificate: trusted,
      clientCaCertificate: pki.ca.certificate,
      advertise: {address: advertised(endpoint.host), port: gateway.port},
      watchSocket: watchSocketPath,
      nodeTunnel: nodeTunnelPath,
      nodes,
      ...pick(options, ['log', 'serviceAccountIssuer', 'serviceClusterIpRange', 'serviceNodePortRange']),
      ...pick(options, ['watchHistoryMs', 'continueTokenTtlMs', 'livezGracePeriodMs', 'reconciled', 'binder']),
    });
    await api.start();
    gateway.serve(api);
    const kubeconfig = kubeconfigText(url, trusted, pki.admin);
    if (options.kubeconfig !== undefined) await writePrivately(options.kubeconfig, kubeconfig);
    return new RunningCluster(parts, options, pki, {gateway, api, store, url, kubeconfig, caCertificate: trusted, adminToken});
  } catch (error) {
    await api?.close();
    await gateway.close(0);
    throw error;
  }
}

interface Running {
  gateway: Gateway;
  api: Api;
  store: Store;
  url: string;
  kubeconfig: string;
  caCertificate: string;
  adminToken: string | undefined;
}

class RunningCluster implements Cluster {
  readonly url: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly kubeconfigPath?: string;
  readonly caCertificate: string;
  readonly clientCaCertificate: string;
  readonly adminToken?: string;
  readonly api: Api;
  readonly #parts: Parts;
  readonly #options: ClusterOptions;
  readonly #pki: Pki;
  readonly #gateway: Gateway;
  readonly #store: Store;
  #closed: Promise<void> | undefined;

  constructor(parts: Parts, options: Omit<ClusterOptions, 'kubeconfig'> & {kubeconfig: string | undefined}, pki: Pki, running: Running) {
    const {kubeconfig: kubeconfigPath, ...rest} = options;
    this.#parts = parts;
    this.#options = rest;
    this.#pki = pki;
    this.#gateway = running.gateway;
    this.#store = running.store;
    this.api = running.api;
    this.url = running.url;
    this.port = running.gateway.port;
    this.kubeconfig = running.kubeconfig;
    this.caCertificate = running.caCertificate;
    this.clientCaCertificate = pki.ca.certificate;
    if (kubeconfigPath !== undefined) this.kubeconfigPath = kubeconfigPath;
    if (running.adminToken !== undefined) this.adminToken = running.adminToken;
  }

  async kubeconfigFor(user: {name: string; groups?: readonly string[]}): Promise<string> {
    return kubeconfigText(this.url, this.caCertificate, await issueClient(this.#pki.ca, user), user.name);
  }

  async fork(): Promise<Cluster> {
    const store = await this.#store.fork();
    try {
      const options = {...this.#options, kubeconfig: undefined, reconciled: true};
      return await raise(this.#parts, options, {host: '127.0.0.1', port: 0}, this.#pki, store);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  drain(): void {
    this.api.drain();
  }

  close({graceMs = 10_000}: {graceMs?: number} = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.api.drain();
    // Side by side: the gateway waits for the watches that the API ends.
    await Promise.all([this.#gateway.close(graceMs), this.api.close()]);
    await this.#store.close();
  }
}

/** What the endpoints of default/kubernetes name. The API allows no loopback address there, so one of the host's stands in. */
function advertised(host: string): string {
  const isLoopback = /^127\.|^::1$|^localhost$/.test(host);
  if (!isLoopback && host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({family, internal}) => family === 'IPv4' && !internal)?.address ?? documentationAddress;
}

/** For machines with no network at all: reserved for documentation, so nobody is reached by mistake. */
const documentationAddress = '192.0.2.1';

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const out: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) out[key] = from[key];
  return out;
}

/** Removes everything that a cluster keeps in its folder, and nothing that it did not put there. */
export async function resetData(data: string): Promise<void> {
  for (const name of ['store', 'pki', 'kubeconfig', 'server.json']) await rm(join(data, name), {recursive: true, force: true});
}
