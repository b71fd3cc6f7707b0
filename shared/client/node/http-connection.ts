/** A client's transport over Node's HTTP/1.1: connections are kept, watches have theirs for themselves, a refused credential is read anew once. */
import {type Agent, type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest} from 'node:http';
import {Agent as TlsAgent, request as tlsRequest} from 'node:https';
import {type ConnectionOptions, createSecureContext} from 'node:tls';
import type {Connection, Reply, Request} from '../connection.ts';
import type {Credentials, Presented} from './credentials.ts';

/** A server that does not answer at all is not worth waiting longer for. */
const answerMs = 90_000;
/** Sockets for requests; more wait. Watches do not count. */
const maxSockets = 32;
/** Below the five idle minutes of gateways, above the servers' own pauses. */
const idleMs = 60_000;

interface Agents {
  certificate: string | undefined;
  ca: string | undefined;
  short: Agent;
  endless: Agent;
}

export class HttpConnection implements Connection {
  readonly url: string;
  readonly #credentials: Credentials;
  readonly #isTls: boolean;
  #agents: Agents | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
    this.url = credentials.server;
    this.#isTls = credentials.server.startsWith('https:');
  }

  async send(request: Request): Promise<Reply> {
    const reply = await this.#once(request, await this.#credentials.present());
    if (reply.status !== 401) return reply;
    const before = await this.#credentials.present();
    const fresh = await this.#credentials.present(true);
    if (fresh.authorization === before.authorization && fresh.certificate?.cert === before.certificate?.cert) return reply;
    reply.discard();
    return this.#once(request, fresh);
  }

  close(): void {
    this.#agents?.short.destroy();
    this.#agents?.endless.destroy();
  }

  /** A request on its way, for whoever has a body to stream to it. Headers of its own that speak of who asks are left as they are. */
  async begin({method, path, headers, endless, signal}: Omit<Request, 'body' | 'headers'> & {headers: object}): Promise<ClientRequest> {
    return this.#call({method, path, headers, ...(endless && {endless}), signal}, await this.#credentials.present());
  }

  /** What was shown has been refused: the next request shows it anew. */
  async refused(): Promise<void> {
    await this.#credentials.present(true);
  }

  #once(request: Request, presented: Presented): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const call = this.#call({...request, headers: request.headers ?? {}}, presented);
      call.on('response', (message) => {
        // A watch may be quiet; TCP's own keep-alive finds a dead peer.
        if (request.endless) call.setTimeout(0);
        resolve(replyOf(message));
      });
      call.on('timeout', () => call.destroy(new Error('no answer in time')));
      // One for each address that was tried has no words of its own.
      call.on('error', (error: NodeJS.ErrnoException) => reject(error.message ? error : new Error(error.code, {cause: error})));
      call.end(request.body);
    });
  }

  #call(
    {method, path, headers, signal, endless, timeoutMs = answerMs}: Omit<Request, 'headers'> & {headers: object},
    presented: Presented,
  ): ClientRequest {
    const agents = this.#agentsFor(presented);
    const {authorization} = presented;
    return (this.#isTls ? tlsRequest : plainRequest)(`${this.url}${path}`, {
      method,
      headers: {...presented.headers, ...(authorization !== undefined && {authorization}), ...headers},
      agent: endless ? agents.endless : agents.short,
      ...(signal && {signal}),
      ...(!endless && {timeout: timeoutMs}),
    });
  }

  /** Another certificate may be presented later; connections are of whoever made them. */
  #agentsFor({certificate}: Presented): Agents {
    const {ca} = this.#credentials;
    const before = this.#agents;
    if (before && before.certificate === certificate?.cert && before.ca === ca) return before;
    // Watches begin anew from where they are; requests under way get their answers, and idle connections end by themselves.
    before?.endless.destroy();
    const tls = this.#isTls ? sharedTls(tlsOptions(this.#credentials, {...(certificate && {certificate})})) : {};
    const make = (more: object): Agent => {
      const options = {keepAlive: true, keepAliveMsecs: 30_000, timeout: idleMs, ...tls, ...more};
      return this.#isTls ? new TlsAgent(options) : new PlainAgent(options);
    };
    this.#agents = {certificate: certificate?.cert, ca, short: make({maxSockets}), endless: make({timeout: 0})};
    return this.#agents;
  }
}

/** Reading certificates costs more than a request: once, not for each connection. */
function sharedTls({ca, cert, key, ...options}: ConnectionOptions): ConnectionOptions {
  return {...options, secureContext: createSecureContext({...(ca && {ca}), ...(cert && {cert}), ...(key && {key})})};
}

/** For any connection to the server on behalf of these credentials; also for WebSockets. */
export function tlsOptions({ca, insecure, serverName}: Credentials, {certificate}: Presented): ConnectionOptions {
  return {
    ...(ca !== undefined && {ca}),
    ...(insecure && {rejectUnauthorized: false}),
    ...(serverName && {servername: serverName}),
    ...certificate,
  };
}

const replyOf = (message: IncomingMessage): Reply => ({
  status: message.statusCode!,
  headers: message.headers,
  body: message,
  discard: () => void message.destroy(),
});
