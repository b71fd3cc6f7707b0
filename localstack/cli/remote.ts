/**
 * A small client for any Kubernetes server, from a kubeconfig: what status, export and import need. One keep-alive pool; retries what
 * the server asks to have retried.
 */
import {resolve} from 'node:path';
import {collect} from '../../shared/client/connection.ts';
import {type Credentials, CredentialsError, loadCredentials} from '../../shared/client/node/credentials.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export interface Target {
  data: string;
  kubeconfig?: string;
  context?: string;
}

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
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

const attempts = 6;
export async function connect(target: Target): Promise<Remote> {
  const kubeconfig = target.kubeconfig === undefined ? await runningKubeconfig(resolve(target.data)) : resolve(target.kubeconfig);
  try {
    return new HttpRemote(await loadCredentials({kubeconfig, ...(target.context !== undefined && {context: target.context})}));
  } catch (error) {
    throw error instanceof CredentialsError ? new Refusal(error.message) : error;
  }
}

async function runningKubeconfig(data: string): Promise<string> {
  const server = await readServerFile(data);
  if (!server)
    throw new Refusal(`no server runs over ${data}: start one with \`clusterless up\`, or name another cluster with --kubeconfig`);
  return server.kubeconfig;
}

class HttpRemote implements Remote {
  readonly url: string;
  readonly #connection: HttpConnection;

  constructor(credentials: Credentials) {
    this.url = credentials.server;
    this.#connection = new HttpConnection(credentials);
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
    this.#connection.close();
  }

  async once(method: string, path: string, body?: object): Promise<Reply> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      accept: 'application/json',
      'user-agent': 'clusterless',
      ...(payload && {'content-type': 'application/json', 'content-length': String(payload.length)}),
    };
    const reply = await this.#connection.send({method, path, headers, body: payload});
    return {status: reply.status, headers: reply.headers, text: Buffer.from(await collect(reply)).toString()};
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
