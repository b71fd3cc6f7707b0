/** Requests and upgrades through to the server as they are, with the user's credential on them. */
import type {IncomingMessage, OutgoingHttpHeaders, ServerResponse} from 'node:http';
import {connect as connectPlain, type Socket} from 'node:net';
import {pipeline} from 'node:stream';
import {connect as connectTls} from 'node:tls';
import {badRequest, failure, type StatusError, serviceUnavailable} from '../../../errors.ts';
import {hopByHop} from '../../../http/hop-by-hop.ts';
import type {Credentials} from '../credentials.ts';
import {type HttpConnection, tlsOptions} from '../http-connection.ts';

export function sendStatus(response: ServerResponse, {status, headers}: StatusError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = Buffer.from(`${JSON.stringify(status)}\n`);
  response.writeHead(status.code, {'content-type': 'application/json', 'content-length': String(body.length), ...headers});
  response.end(body);
}

export async function forward(connection: HttpConnection, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // May be quiet for as long as it likes.
  const isWatch = /[?&](watch|follow)=/.test(request.url!);
  // Behind the server's address another form would be part of a host's name.
  if (!request.url!.startsWith('/')) return sendStatus(response, badRequest('the request names no path'));
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers)) if (!hopByHop.has(name) && name !== 'host') headers[name] = value;
  const hasBody = request.headers['transfer-encoding'] !== undefined;
  if (hasBody) headers['transfer-encoding'] = 'chunked';
  let begun: Awaited<ReturnType<HttpConnection['begin']>>;
  try {
    // A log that is followed, or a large upload, has its own time: how long to wait is its client's affair.
    begun = await connection.begin({method: request.method!, path: request.url!, headers, endless: isWatch || request.method !== 'GET'});
  } catch (error) {
    sendStatus(response, serviceUnavailable(`no credential: ${(error as Error).message}`));
    return;
  }
  const call = begun;
  call.on('response', (answer) => {
    call.setTimeout(0);
    if (answer.statusCode === 401 && headers['authorization'] === undefined) connection.refused().catch(() => {});
    const out: OutgoingHttpHeaders = {};
    for (const [name, value] of Object.entries(answer.headers)) if (!hopByHop.has(name) && name !== 'watch-socket') out[name] = value;
    response.writeHead(answer.statusCode!, out);
    response.flushHeaders();
    pipeline(answer, response, () => {});
  });
  call.on('timeout', () => call.destroy(new Error('no answer in time')));
  call.on('error', (error: NodeJS.ErrnoException) => sendStatus(response, unreachable(error)));
  response.once('close', () => response.writableFinished || call.destroy());
  pipeline(request, call, () => {});
}

/** Refused at the door nothing has happened, and the client may come again; otherwise it cannot be told. */
function unreachable(error: NodeJS.ErrnoException): StatusError {
  const nothingHappened = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'].includes(error.code ?? '');
  const message = `the server cannot be reached: ${error.message}`;
  return nothingHappened
    ? failure(503, 'ServiceUnavailable', message, {details: {retryAfterSeconds: 1}, headers: {'retry-after': '1'}})
    : failure(502, 'BadGateway', message);
}

/** How exec, attach and port-forward reach their pod: through the server, or another way where its gateway takes no upgrades. */
export interface UpgradeRoad {
  take(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void>;
}

/** Byte for byte to the server, once the head says who asks. */
export class DirectRoad implements UpgradeRoad {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async take(request: IncomingMessage, near: Socket, head: Buffer): Promise<void> {
    const {server} = this.#credentials;
    const url = new URL(server);
    const presented = await this.#credentials.present();
    if (near.destroyed) return;
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const far =
      url.protocol === 'https:'
        ? connectTls({
            host,
            port,
            servername: isAddress(host) ? '' : host,
            ALPNProtocols: ['http/1.1'],
            ...tlsOptions(this.#credentials, presented),
          })
        : connectPlain({host, port});
    const lines = [`${request.method} ${url.pathname.replace(/\/$/, '')}${request.url} HTTP/1.1`, `Host: ${url.host}`];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const name = request.rawHeaders[at]!;
      if (name.toLowerCase() !== 'host') lines.push(`${name}: ${request.rawHeaders[at + 1]}`);
    }
    if (presented.authorization !== undefined && request.headers.authorization === undefined)
      lines.push(`Authorization: ${presented.authorization}`);
    for (const [name, value] of Object.entries(presented.headers ?? {})) lines.push(`${name}: ${value}`);
    far.on('error', () => near.destroy());
    near.on('error', () => far.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => near.end());
    far.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    let said = Buffer.alloc(0);
    const hear = (bytes: Buffer): void => {
      said = Buffer.concat([said, bytes]);
      if (said.length < statusEnd) return;
      far.off('data', hear);
      far.pause();
      far.unshift(said);
      far.pipe(near);
      if (said.toString('latin1', statusEnd - 3, statusEnd) === '101') {
        far.write(head);
        near.pipe(far);
        return;
      }
      // To what is still HTTP another request would go unseen.
      near.once('end', () => far.end());
      near.resume();
    };
    far.on('data', hear);
  }
}

/** Of `HTTP/1.1 101`. */
const statusEnd = 12;

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);
