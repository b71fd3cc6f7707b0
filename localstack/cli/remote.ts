/**
 * A small client for any Kubernetes server, from a kubeconfig: what status, export and import need. One keep-alive pool; retries what
 * the server asks to have retried.
 */
import {readFile} from 'node:fs/promises';
import {Agent, request} from 'node:https';
import {dirname, join, resolve} from 'node:path';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export interface Target {
  data: string;
  kubeconfig?: string;
  context?: string;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Remote {
  readonly url: string;
  request(method: string, path: string, body?: object): Promise<Reply>;
  /** Without a second attempt: for asking how the server is. */
  once(method: string, path: string): Promise<Reply>;
  /** The JSON of a 2xx answer. @throws Refusal with the server's own words otherwise */
  get<T>(path: string): Promise<T>;
  close(): void;
}

interface KubeUser {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: {command: string; args?: string[]; env?: {name: string; value: string}[]; apiVersion: string};
}

interface KubeCluster {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}

interface Kubeconfig {
  clusters?: {name: string; cluster: KubeCluster}[];
  users?: {name: string; user: KubeUser}[];
  contexts?: {name: string; context: {cluster: string; user: string; namespace?: string}}[];
  'current-context'?: string;
}

const attempts = 6;
/** A server that does not answer at all is not worth waiting longer for. */
const answerMs = 90_000;

export async function connect(target: Target): Promise<Remote> {
  const file = target.kubeconfig === undefined ? await runningKubeconfig(resolve(target.data)) : resolve(target.kubeconfig);
  const {cluster, user} = await readContext(file, target.context);
  const pem = async (data: string | undefined, path: string | undefined): Promise<string | undefined> =>
    data !== undefined
      ? Buffer.from(data, 'base64').toString()
      : path === undefined
        ? undefined
        : readFile(join(dirname(file), path), 'utf8');
  const credentials = user.exec ? {...user, ...(await execCredential(user.exec))} : user;
  const token = credentials.token ?? (credentials.tokenFile && (await readFile(credentials.tokenFile, 'utf8')).trim());
  const authorization = token
    ? `Bearer ${token}`
    : credentials.username !== undefined
      ? `Basic ${Buffer.from(`${credentials.username}:${credentials.password ?? ''}`).toString('base64')}`
      : undefined;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: await pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: await pem(credentials['client-certificate-data'], credentials['client-certificate']),
    key: await pem(credentials['client-key-data'], credentials['client-key']),
    rejectUnauthorized: !cluster['insecure-skip-tls-verify'],
    ...(cluster['tls-server-name'] && {servername: cluster['tls-server-name']}),
  });
  return new HttpsRemote(cluster.server.replace(/\/$/, ''), agent, authorization);
}

async function runningKubeconfig(data: string): Promise<string> {
  const server = await readServerFile(data);
  if (!server)
    throw new Refusal(`no server runs over ${data}: start one with \`clusterless up\`, or name another cluster with --kubeconfig`);
  return server.kubeconfig;
}

async function readContext(file: string, wanted: string | undefined): Promise<{cluster: KubeCluster; user: KubeUser}> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`cannot read kubeconfig ${file}: ${error.code}`);
  });
  const {parse} = await import('yaml');
  let config: Kubeconfig;
  try {
    config = parse(text) as Kubeconfig;
  } catch (error) {
    throw new Refusal(`${file} is no kubeconfig: ${(error as Error).message.split('\n')[0]}`);
  }
  const name = wanted ?? config?.['current-context'];
  const context = config?.contexts?.find((one) => one.name === name)?.context;
  if (!context) throw new Refusal(`${file} has no context ${name ? JSON.stringify(name) : 'that is current'}`);
  const cluster = config.clusters?.find((one) => one.name === context.cluster)?.cluster;
  if (!cluster) throw new Refusal(`${file} has no cluster ${JSON.stringify(context.cluster)}`);
  return {cluster, user: config.users?.find((one) => one.name === context.user)?.user ?? {}};
}

/** The plugin's answer, as kubectl would use it. */
async function execCredential(exec: NonNullable<KubeUser['exec']>): Promise<KubeUser> {
  const {execFile} = await import('node:child_process');
  const info = JSON.stringify({apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: {interactive: false}});
  const env = {...process.env, ...Object.fromEntries((exec.env ?? []).map(({name, value}) => [name, value])), KUBERNETES_EXEC_INFO: info};
  const output = await new Promise<string>((resolve, reject) => {
    execFile(exec.command, exec.args ?? [], {env, maxBuffer: 1 << 20}, (error, stdout) =>
      error ? reject(new Refusal(`credential plugin ${exec.command} failed: ${error.message.split('\n')[0]}`)) : resolve(stdout),
    );
  });
  const {status} = JSON.parse(output) as {status: {token?: string; clientCertificateData?: string; clientKeyData?: string}};
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    ...(status.token !== undefined && {token: status.token}),
    ...(status.clientCertificateData !== undefined && {'client-certificate-data': base64(status.clientCertificateData)}),
    ...(status.clientKeyData !== undefined && {'client-key-data': base64(status.clientKeyData)}),
  };
}

class HttpsRemote implements Remote {
  readonly url: string;
  readonly #agent: Agent;
  readonly #authorization: string | undefined;

  constructor(url: string, agent: Agent, authorization: string | undefined) {
    this.url = url;
    this.#agent = agent;
    this.#authorization = authorization;
  }

  async request(method: string, path: string, body?: object): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt === attempts;
      try {
        const reply = await this.once(method, path, body);
        if (last || (reply.status !== 429 && reply.status < 500) || reply.status === 501) return reply;
        await pause(Number(reply.headers['retry-after'] ?? 0) * 1_000 || backoffMs(attempt));
      } catch (error) {
        // A write whose answer was lost may have happened: it is not sent again.
        if (last || method !== 'GET') throw new Refusal(`${method} ${this.url}${path}: ${(error as Error).message}`);
        await pause(backoffMs(attempt));
      }
    }
  }

  async get<T>(path: string): Promise<T> {
    const reply = await this.request('GET', path);
    if (reply.status < 200 || reply.status > 299) throw new Refusal(`GET ${path}: ${wordsOf(reply)}`);
    return JSON.parse(reply.text) as T;
  }

  close(): void {
    this.#agent.destroy();
  }

  once(method: string, path: string, body?: object): Promise<Reply> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string> = {accept: 'application/json', 'user-agent': 'clusterless'};
    if (this.#authorization !== undefined) headers['authorization'] = this.#authorization;
    if (payload) Object.assign(headers, {'content-type': 'application/json', 'content-length': String(payload.length)});
    return new Promise((resolve, reject) => {
      const call = request(`${this.url}${path}`, {method, headers, agent: this.#agent, timeout: answerMs}, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString()}),
        );
      });
      call.on('timeout', () => call.destroy(new Error('no answer in time')));
      call.on('error', reject);
      call.end(payload);
    });
  }
}

/** What a failed answer says: its Status message where it has one. */
export function wordsOf(reply: Reply): string {
  try {
    const {message} = JSON.parse(reply.text) as {message?: string};
    if (message) return message;
  } catch {
    // Not every proxy answers in JSON.
  }
  return `${reply.status} ${reply.text.slice(0, 200).trim()}`;
}

const backoffMs = (attempt: number): number => Math.min(250 * 2 ** attempt, 8_000) * (0.75 + Math.random() / 2);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
