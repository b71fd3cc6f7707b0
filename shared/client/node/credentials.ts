/** Who a client is and whom it trusts: from a kubeconfig, or from what a pod finds in its files. Re-read where they change. */
import {execFile} from 'node:child_process';
import {createPrivateKey, X509Certificate} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {delimiter, dirname, join, resolve} from 'node:path';

export interface Credentials {
  /** URL without a slash at its end. */
  server: string;
  /** PEM; the system's own when absent. */
  ca?: string;
  /** Name in the server's certificate, where it is not the URL's. */
  serverName?: string;
  insecure?: boolean;
  /** The namespace of the context, or the pod's own. */
  namespace: string;
  /** What is shown with a request: read again when it may have changed. `fresh`: the last one was refused. */
  present(fresh?: boolean): Promise<Presented>;
}

export interface Presented {
  /** Value of the Authorization header. */
  authorization?: string;
  /** PEM of a client certificate and its key. */
  certificate?: {cert: string; key: string};
  /** Impersonation. */
  headers?: Record<string, string>;
}

export interface CredentialOptions {
  /** Default: KUBECONFIG, then in-cluster where a pod finds its files, then ~/.kube/config. */
  kubeconfig?: string;
  context?: string;
}

/** What a caller did wrong, in words for people. */
export class CredentialsError extends Error {}

const podFiles = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Tokens in files are exchanged well before they end. */
const rereadMs = 60_000;

/** @throws CredentialsError */
export async function loadCredentials({kubeconfig, context}: CredentialOptions = {}): Promise<Credentials> {
  const files = kubeconfig !== undefined ? [kubeconfig] : (process.env['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  if (files.length === 0) {
    const inCluster = await podCredentials();
    if (inCluster) return inCluster;
    files.push(join(homedir(), '.kube', 'config'));
  }
  return contextCredentials(await readConfigs(files), context, files.join(', '));
}

/** Undefined outside of a pod. */
export async function podCredentials(folder = podFiles): Promise<Credentials | undefined> {
  const {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443'} = process.env;
  if (!host) return undefined;
  const read = (name: string): Promise<string | undefined> => readFile(join(folder, name), 'utf8').catch(() => undefined);
  const namespace = (await read('namespace')) ?? 'default';
  const token = rereading(join(folder, 'token'));
  if ((await token().catch(() => undefined)) === undefined) return undefined;
  const credentials: Credentials = {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    present: async (fresh) => ({authorization: `Bearer ${await token(fresh)}`}),
  };
  return withCa(credentials, (await read('ca.crt')) === undefined ? undefined : rereading(join(folder, 'ca.crt')));
}

/** Who signs servers may change while a program runs. */
async function withCa(credentials: Credentials, ca: Reading | undefined): Promise<Credentials> {
  if (!ca) return credentials;
  const {present} = credentials;
  const take = async (fresh?: boolean): Promise<void> => {
    credentials.ca = await ca(fresh);
  };
  await take();
  credentials.present = async (fresh) => {
    await take(fresh);
    return present(fresh);
  };
  return credentials;
}

interface User {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: Plugin;
}

interface Plugin {
  apiVersion: string;
  command: string;
  args?: string[];
  env?: {name: string; value: string}[];
  installHint?: string;
  provideClusterInfo?: boolean;
}

interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}

interface Context {
  cluster: string;
  user?: string;
  namespace?: string;
}

/** An entry, and the folder that its relative paths are of. */
interface Found<T> {
  value: T;
  folder: string;
}

interface Config {
  current: string | undefined;
  clusters: Map<string, Found<Cluster>>;
  users: Map<string, Found<User>>;
  contexts: Map<string, Found<Context>>;
}

/** Several files as kubectl merges them: the first that names something says what it is. */
async function readConfigs(files: readonly string[]): Promise<Config> {
  const config: Config = {current: undefined, clusters: new Map(), users: new Map(), contexts: new Map()};
  for (const file of files) {
    const path = resolve(file);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && files.length > 1) return '';
      throw new CredentialsError(`cannot read kubeconfig ${file}: ${error.code}`);
    });
    let parsed: Record<string, unknown> | null;
    try {
      parsed = (await parse(text)) as Record<string, unknown> | null;
    } catch (error) {
      throw new CredentialsError(`${file} is no kubeconfig: ${(error as Error).message.split('\n')[0]}`);
    }
    config.current ||= parsed?.['current-context'] as string | undefined;
    const take = <T>(list: unknown, key: string, into: Map<string, Found<T>>): void => {
      if (!Array.isArray(list)) return;
      for (const entry of list as Record<string, unknown>[]) {
        const name = entry['name'] as string;
        if (!into.has(name)) into.set(name, {value: (entry[key] ?? {}) as T, folder: dirname(path)});
      }
    };
    take(parsed?.['clusters'], 'cluster', config.clusters);
    take(parsed?.['users'], 'user', config.users);
    take(parsed?.['contexts'], 'context', config.contexts);
  }
  return config;
}

/** YAML's reader is loaded only where it is needed. */
async function parse(text: string): Promise<unknown> {
  try {
    if (text.startsWith('{')) return JSON.parse(text);
  } catch {
    // YAML may begin with a brace too.
  }
  return (await import('yaml')).parse(text);
}

async function contextCredentials(config: Config, wanted: string | undefined, files: string): Promise<Credentials> {
  const name = wanted ?? config.current;
  const context = name === undefined ? undefined : config.contexts.get(name)?.value;
  if (!context) throw new CredentialsError(`${files} has no context ${name ? JSON.stringify(name) : 'that is current'}`);
  const cluster = config.clusters.get(context.cluster);
  if (!cluster?.value.server) throw new CredentialsError(`${files} has no cluster ${JSON.stringify(context.cluster)} with a server`);
  const {server, 'insecure-skip-tls-verify': insecure, 'tls-server-name': serverName} = cluster.value;
  const ca = pem(cluster, 'certificate-authority');
  const user: Found<User> = (context.user !== undefined && config.users.get(context.user)) || {value: {}, folder: '.'};
  const credentials: Credentials = {
    server: server.replace(/\/+$/, ''),
    namespace: context.namespace ?? 'default',
    ...(serverName && {serverName}),
    ...(insecure && {insecure}),
    present: await presenter(user, cluster.value, await ca?.()),
  };
  return withCa(credentials, ca);
}

async function presenter(found: Found<User>, cluster: Cluster, ca: string | undefined): Promise<Credentials['present']> {
  const {value: user, folder} = found;
  const certificate = keyPair(pem(found, 'client-certificate'), pem(found, 'client-key'));
  // Said at once when it cannot be read.
  await certificate();
  const headers = impersonation(user);
  const fixed = async (fresh?: boolean): Promise<Presented> => {
    const pair = await certificate(fresh);
    return {...(pair && {certificate: pair}), ...(headers && {headers})};
  };
  if (user.exec) {
    const ask = plugin(user.exec, folder, cluster, ca);
    return async (fresh) => ({...(await fixed(fresh)), ...(await ask(fresh ?? false))});
  }
  if (user.tokenFile) {
    const token = rereading(resolve(folder, user.tokenFile));
    return async (fresh) => ({...(await fixed(fresh)), authorization: `Bearer ${await token(fresh)}`});
  }
  const authorization = user.token
    ? `Bearer ${user.token}`
    : user.username !== undefined
      ? `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`
      : undefined;
  return async (fresh) => ({...(await fixed(fresh)), ...(authorization !== undefined && {authorization})});
}

/** Undefined without both of them. Where files are being exchanged, the former pair until the new ones belong together. */
function keyPair(cert: Reading | undefined, key: Reading | undefined): (fresh?: boolean) => Promise<Presented['certificate']> {
  let known: Presented['certificate'];
  return async (fresh) => {
    const next = {cert: await cert?.(fresh), key: await key?.(fresh)};
    if (!isPair(next)) return undefined;
    if (next.cert === known?.cert && next.key === known.key) return known;
    if (!known || belongTogether(next)) known = next;
    return known;
  };
}

const isPair = (pair: {cert: string | undefined; key: string | undefined}): pair is {cert: string; key: string} =>
  pair.cert !== undefined && pair.key !== undefined;

function belongTogether({cert, key}: {cert: string; key: string}): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function impersonation({as, 'as-uid': uid, 'as-groups': groups}: User): Record<string, string> | undefined {
  if (!as) return undefined;
  return {
    'impersonate-user': as,
    ...(uid && {'impersonate-uid': uid}),
    // Repeated headers arrive joined: groups with a comma in their name cannot be said this way.
    ...(groups?.length && {'impersonate-group': groups.join(', ')}),
  };
}

/** PEM from the entry itself, or from the file that it names. */
function pem<T extends Cluster | User>({value, folder}: Found<T>, name: string): Reading | undefined {
  const fields = value as Record<string, string | undefined>;
  const data = fields[`${name}-data`];
  if (data) {
    const text = Buffer.from(data, 'base64').toString();
    return async () => text;
  }
  const file = fields[name];
  return file ? rereading(resolve(folder, file), file) : undefined;
}

/** `fresh`: what it said last was refused. */
type Reading = (fresh?: boolean) => Promise<string>;

/** What a file holds, read again each minute; while it is being exchanged, what it held before. */
function rereading(file: string, name = file): Reading {
  let text: string | undefined;
  let until = 0;
  return async (fresh) => {
    if (text !== undefined && !fresh && Date.now() < until) return text;
    until = Date.now() + rereadMs;
    try {
      text = (await readFile(file, 'utf8')).trim() || text;
    } catch (error) {
      if (text === undefined) throw new CredentialsError(`cannot read ${name}: ${(error as NodeJS.ErrnoException).code}`);
    }
    return text ?? '';
  };
}

/** Asked before its answer ends, so that no request meets the end. */
const renewBeforeMs = 30_000;

/** A credential plugin: its answer is used until it ends or is refused, and asked for once at a time. */
function plugin(exec: Plugin, folder: string, cluster: Cluster, ca: string | undefined): (fresh: boolean) => Promise<Presented> {
  let known: {presented: Presented; until: number} | undefined;
  let asking: Promise<Presented> | undefined;
  const ask = async (): Promise<Presented> => {
    const status = await runPlugin(exec, folder, cluster, ca);
    const {token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp} = status;
    const presented: Presented = {...(token && {authorization: `Bearer ${token}`}), ...(cert && key && {certificate: {cert, key}})};
    known = {presented, until: expirationTimestamp ? Date.parse(expirationTimestamp) - renewBeforeMs : Number.POSITIVE_INFINITY};
    return presented;
  };
  return (fresh) => {
    if (!fresh && known && Date.now() < known.until) return Promise.resolve(known.presented);
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

interface PluginStatus {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
  expirationTimestamp?: string;
}

async function runPlugin(exec: Plugin, folder: string, cluster: Cluster, ca: string | undefined): Promise<PluginStatus> {
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo && {
        cluster: {server: cluster.server, ...(ca && {'certificate-authority-data': Buffer.from(ca).toString('base64')})},
      }),
    },
  };
  const own = Object.fromEntries((exec.env ?? []).map(({name, value}) => [name, value]));
  const env = {...process.env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info)};
  // As kubectl: a command with a slash is of the kubeconfig's folder, one without is looked for in PATH.
  const command = exec.command.includes('/') ? resolve(folder, exec.command) : exec.command;
  const output = await new Promise<string>((done, failed) => {
    execFile(command, exec.args ?? [], {env, maxBuffer: 1 << 20}, (error, stdout, stderr) => {
      if (!error) return done(stdout);
      const hint = exec.installHint ? ` (${exec.installHint.trim()})` : '';
      const why = stderr.trim().split('\n').at(-1) || error.message.split('\n')[0];
      failed(new CredentialsError(`credential plugin ${exec.command} failed: ${why}${hint}`));
    });
  });
  try {
    const {status} = JSON.parse(output) as {status?: PluginStatus};
    if (status) return status;
  } catch {
    // What it said instead is its own affair, and may be a secret.
  }
  throw new CredentialsError(`credential plugin ${exec.command} gave no credential`);
}
