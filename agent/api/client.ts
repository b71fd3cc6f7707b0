/**
 * Requests to the API server: JSON over a few kept connections, at the rate that was asked for, failures as StatusErrors. Watches have
 * connections of their own (see reflector.ts).
 */
import http from 'node:http';
import https from 'node:https';
import {createSecureContext} from 'node:tls';
import {failure, type Status, StatusError, serviceUnavailable} from '../../shared/errors.ts';
import type {ServerAccess} from './clusterconfig.ts';
import type {TokenBucket} from './token-bucket.ts';

export interface RequestOptions {
  body?: unknown;
  contentType?: string;
  /** Before others when requests wait for their turn; `free` does not wait at all (leases, node status, events with their own limit). */
  priority?: 'free' | 'high' | 'normal' | 'low';
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface ApiClient {
  /** The parsed answer. @throws StatusError; ServiceUnavailable where no answer came */
  request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<T>;
  /** The answer as it arrives. */
  stream(path: string, signal: AbortSignal): Promise<http.IncomingMessage>;
  /** Where pods of a cluster without a service network reach the API. */
  readonly url: URL;
  close(): void;
}

const requestTimeoutMs = 30_000;
const maxAnswerBytes = 256 * 1024 * 1024;

export class HttpClient implements ApiClient {
  readonly url: URL;
  readonly #access: ServerAccess;
  readonly #agent: http.Agent;
  readonly #watchAgent: http.Agent;
  readonly #bucket: TokenBucket | undefined;
  readonly #userAgent: string;

  constructor(access: ServerAccess, userAgent: string, bucket?: TokenBucket) {
    this.#access = access;
    this.url = access.url;
    this.#bucket = bucket;
    this.#userAgent = userAgent;
    const secure = access.url.protocol === 'https:';
    const {ca, cert, key} = access;
    const tlsOptions = {
      // Made once: reading the certificates again costs more than a request.
      secureContext: createSecureContext({...(ca && {ca}), ...(cert && key && {cert, key})}),
      rejectUnauthorized: !access.insecure,
      ...(access.serverName && {servername: access.serverName}),
    };
    const make = (options: http.AgentOptions) => (secure ? new https.Agent({...tlsOptions, ...options}) : new http.Agent(options));
    this.#agent = make({keepAlive: true, maxSockets: 16, maxFreeSockets: 4, timeout: requestTimeoutMs * 2});
    // A watch that shares the pool would starve it.
    this.#watchAgent = make({keepAlive: false});
  }

  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const {priority = 'normal', signal} = options;
    if (priority !== 'free') await this.#bucket?.take(priority, signal);
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    const response = await this.#send(method, path, body, options);
    const text = await textOf(response);
    const value = parse(text);
    if (response.statusCode! < 300) return value as T;
    throw statusError(response.statusCode!, value, text);
  }

  async stream(path: string, signal: AbortSignal): Promise<http.IncomingMessage> {
    const response = await this.#send('GET', path, undefined, {signal}, this.#watchAgent);
    if (response.statusCode! < 300) return response;
    const text = await textOf(response);
    throw statusError(response.statusCode!, parse(text), text);
  }

  close(): void {
    this.#agent.destroy();
    this.#watchAgent.destroy();
  }

  async #send(
    method: string,
    path: string,
    body: Buffer | undefined,
    {contentType, timeoutMs = requestTimeoutMs, signal}: RequestOptions,
    agent = this.#agent,
  ): Promise<http.IncomingMessage> {
    const headers: http.OutgoingHttpHeaders = {accept: 'application/json', 'user-agent': this.#userAgent};
    if (this.#access.token) headers.authorization = `Bearer ${await this.#access.token()}`;
    if (body) Object.assign(headers, {'content-type': contentType ?? 'application/json', 'content-length': body.length});
    const base = this.url.pathname.replace(/\/$/, '');
    return new Promise((resolve, reject) => {
      const request = (this.url.protocol === 'https:' ? https : http).request(
        {host: this.url.hostname.replace(/^\[|\]$/g, ''), port: this.url.port, path: base + path, method, headers, agent, signal},
        resolve,
      );
      request.on('error', (error) => reject(signal?.aborted ? error : serviceUnavailable(error.message)));
      if (agent === this.#agent) request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer in ${timeoutMs} ms`)));
      request.end(body);
    });
  }
}

function textOf(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxAnswerBytes) response.destroy(new Error('the answer is too long'));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    response.on('error', (error) => reject(serviceUnavailable(error.message)));
    response.on('aborted', () => reject(serviceUnavailable('the answer broke off')));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Also of answers that are no Status: a proxy between may speak HTML. */
function statusError(code: number, value: unknown, text: string): StatusError {
  const status = value as Partial<Status> | undefined;
  if (status?.kind === 'Status') return new StatusError(status as Status);
  return failure(code, '', text.slice(0, 200) || `HTTP ${code}`);
}
