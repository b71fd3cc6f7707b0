/** Open WebSocket connections of the API, and the management API over them: post, get, delete (@connections). */
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {WebSocket} from 'ws';
import {frameLimit, messageLimit} from './limits.ts';

export interface Connection {
  id: string;
  socket: WebSocket;
  connectedAt: Date;
  lastActiveAt: Date;
  sourceIp: string;
  userAgent: string;
  touch(): void;
}

export class Connections {
  readonly #open = new Map<string, Connection>();

  add(connection: Connection): void {
    this.#open.set(connection.id, connection);
  }

  remove(id: string): void {
    this.#open.delete(id);
  }

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#open.values();
  }

  /** A request to /…/@connections/ID. Returns false for any other path. */
  manage(request: IncomingMessage, body: Buffer, response: ServerResponse): boolean {
    const id = /\/@connections\/([^/?]+)/.exec(request.url ?? '')?.[1];
    if (id === undefined) return false;
    const connection = this.#open.get(decodeURIComponent(id));
    if (!connection) refuse(response, 410, 'GoneException', '');
    else if (request.method === 'POST' && body.length > messageLimit) refuse(response, 413, 'PayloadTooLargeException', 'Message too long');
    else if (request.method === 'POST') {
      sendInFrames(connection.socket, body.toString());
      connection.touch();
      response.writeHead(200).end();
    } else if (request.method === 'GET') {
      const {connectedAt, lastActiveAt, sourceIp, userAgent} = connection;
      response.writeHead(200, {'Content-Type': 'application/json'});
      response.end(JSON.stringify({connectedAt, lastActiveAt, identity: {sourceIp, userAgent}}));
    } else if (request.method === 'DELETE') {
      connection.socket.close(1000);
      response.writeHead(204).end();
    } else refuse(response, 405, 'BadRequestException', '');
    return true;
  }
}

/** A post is text whatever it holds: what is no UTF-8 has been replaced before it gets here. */
function sendInFrames(socket: WebSocket, text: string): void {
  const bytes = Buffer.from(text);
  if (bytes.length <= frameLimit) {
    socket.send(text);
    return;
  }
  for (let at = 0; at < bytes.length; at += frameLimit) {
    socket.send(bytes.subarray(at, at + frameLimit), {binary: false, fin: at + frameLimit >= bytes.length});
  }
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, {'Content-Type': 'application/json', 'x-amzn-ErrorType': type}).end(JSON.stringify({message}));
}
