/**
 * Upgrades that lead through to a node: exec, attach, port-forward, and whatever a proxied server may offer. The API is asked as for any
 * request, and told that the connection can be given away; if it has a use for that the connection is spliced (shared/nodes/splice.ts), if not it is answered.
 */
import {type IncomingMessage, ServerResponse, STATUS_CODES} from 'node:http';
import type {TLSSocket} from 'node:tls';
import type {ApiRequest, ApiResponse} from '../../shared/http/messages.ts';
import {parseTarget} from '../../shared/http/target.ts';
import {splice} from '../../shared/nodes/splice.ts';
import {answer, type Desk} from './answer.ts';
import {hangUp, seeOff} from './broken.ts';
import {write} from './http1.ts';
import {peerOf} from './peer.ts';
import {GatewayRequest} from './request.ts';

const leadsThrough = /^\/api\/[^/]+\/(namespaces\/[^/]+\/)?[^/]+\/[^/?]+\/(exec|attach|portforward|proxy)([/?]|$)/;

/** Of a session, when one side has said its last word: nobody can tell what the other half is for. */
const lingerMs = 5_000;

/** A body would have to be read from what is no HTTP any more: none of these has one. */
export const isThrough = ({url, headers}: IncomingMessage): boolean =>
  leadsThrough.test(url ?? '') && headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

export class Throughs {
  readonly #desk: Desk;
  readonly #open = new Set<TLSSocket>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  take(message: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    const target = parseTarget(message.url!);
    if (!target || this.#desk.closing) {
      hangUp(socket, target ? 503 : 400);
      return;
    }
    const request = new GatewayRequest(message.method!, target, message.headers as ApiRequest['headers'], peerOf(socket));
    request.upgrade = true;
    this.#desk.inFlight++;
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#desk.inFlight--;
      this.#open.delete(socket);
      request.abandon();
    });
    // A session may be quiet for as long as it likes.
    socket.setTimeout(0);
    if (head.length > 0) socket.unshift(head);
    this.#serve(message, request, socket).catch((error: unknown) => {
      this.#desk.log?.error({err: error, method: request.method, path: request.path}, 'answer could not be written');
      socket.destroy();
    });
  }

  /** They cannot be told to come again elsewhere: they end. */
  drain(): void {
    for (const socket of this.#open) socket.end();
  }

  async #serve(message: IncomingMessage, request: GatewayRequest, socket: TLSSocket): Promise<void> {
    const response = await answer(this.#desk, request);
    if (!response.upgrade) return plainly(message, response, socket);
    if (socket.destroyed || this.#desk.closing) {
      response.upgrade.destroy();
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.write(headOf(response));
    splice(socket, response.upgrade, lingerMs);
  }
}

/** The connection ends with it: its parser has already let go. */
async function plainly(message: IncomingMessage, response: ApiResponse, socket: TLSSocket): Promise<void> {
  const out = new ServerResponse(message);
  out.shouldKeepAlive = false;
  out.assignSocket(socket);
  out.once('finish', () => {
    socket.end();
    seeOff(socket);
  });
  await write(response, out);
}

function headOf({status, headers}: ApiResponse): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) lines.push(`${name}: ${one}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
