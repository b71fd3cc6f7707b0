/**
 * Upgrades to a cluster whose gateway takes none: asked for over a WebSocket of the tunnels' protocol, one for each (docs/tunnel.md). The
 * server decides and writes the head of the request; what the node answers to it is the client's to read.
 */
import type {IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {WebSocket} from 'ws';
import type {Clock} from '../../../clock.ts';
import {serviceUnavailable} from '../../../errors.ts';
import {statusOf} from '../../../http/status.ts';
import {maxTextMessageBytes, type StreamFrame, tunnelProtocol} from '../../../nodes/tunnel/frames.ts';
import {Multiplexer} from '../../../nodes/tunnel/multiplexer.ts';
import {decodeText} from '../../../nodes/tunnel/text.ts';
import {messageCarrier} from '../../../nodes/tunnel/web-socket.ts';
import type {Credentials} from '../credentials.ts';
import {openSocket} from '../dial.ts';
import type {UpgradeRoad} from './forward.ts';

interface Refusal {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
}

const dialId = '1';
/** The head of an answer that is no upgrade says how long it is by itself. */
const ownHeaders = new Set(['content-length', 'transfer-encoding', 'connection']);

export class TunnelRoad implements UpgradeRoad {
  readonly #url: string;
  readonly #credentials: Credentials;
  readonly #clock: Clock;

  constructor(url: string, credentials: Credentials, clock: Clock) {
    this.#url = url;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  async take(request: IncomingMessage, near: Socket, head: Buffer): Promise<void> {
    try {
      const socket = await openSocket(this.#url, tunnelProtocol, this.#credentials, {maxPayload: 2 * maxTextMessageBytes});
      const {authorization} = await this.#credentials.present();
      new Crossing(socket, near, head, this.#clock).begin(request, /^Bearer (.+)$/.exec(authorization ?? '')?.[1]);
    } catch (error) {
      const {status} = statusOf(serviceUnavailable(`no way to the node: ${(error as Error).message}`));
      refuse(near, {status: status.code, headers: {'content-type': 'application/json'}, body: JSON.stringify(status)});
    }
  }
}

class Crossing {
  readonly #socket: WebSocket;
  readonly #near: Socket;
  readonly #head: Buffer;
  readonly #clock: Clock;
  readonly #mux: Multiplexer;
  #dial = '';
  #answered = false;
  #cancelPing = (): void => {};

  constructor(socket: WebSocket, near: Socket, head: Buffer, clock: Clock) {
    this.#socket = socket;
    this.#near = near;
    this.#head = head;
    this.#clock = clock;
    this.#mux = new Multiplexer({form: 'text', carrier: messageCarrier(socket), clock, closed: () => socket.close(1000)});
  }

  begin(request: IncomingMessage, token: string | undefined): void {
    const {method, url, headers} = request;
    const given = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === 'host' ? [] : [[name, [value].flat().join(', ')]],
    );
    this.#dial = JSON.stringify({action: 'dial', id: dialId, method, target: url, headers: Object.fromEntries(given)});
    const socket = this.#socket;
    let problem = '';
    socket.on('open', () => socket.send(JSON.stringify({action: 'hello', ...(token !== undefined && {token})})));
    socket.on('message', (data: Buffer) => this.#hear(data.toString()));
    socket.on('error', (error) => {
      problem = error.message;
    });
    socket.on('close', (_code, reason) => {
      this.#cancelPing();
      this.#mux.close(new Error('the connection to the server has ended'));
      if (!this.#answered) this.#unreachable(reason.toString() || problem || 'the connection was closed');
    });
    this.#near.on('close', () => {
      if (!this.#answered || this.#mux.size === 0) socket.close(1000);
    });
  }

  #hear(text: string): void {
    // What is no frame is one of few lines; a server may say more than is known here.
    const message = parsed(text);
    switch (message?.['action']) {
      case 'welcome':
        this.#pingEvery(Number(message['pingSeconds']) || 60);
        if (!this.#answered) this.#socket.send(this.#dial);
        break;
      case 'dialled':
        this.#cross(String(message['stream']), Number(message['at']));
        break;
      case 'refused':
        this.#answered = true;
        refuse(this.#near, message as unknown as Refusal);
        this.#socket.close(1000);
        break;
      case 'bye':
        if (!this.#answered) this.#unreachable(String(message['reason']));
        break;
      case 'data':
      case 'end':
      case 'credit':
      case 'reset':
        this.#mux.receive(decodeText(text) as StreamFrame);
        break;
      default:
    }
  }

  #cross(id: string, sent: number): void {
    if (this.#answered) return;
    this.#answered = true;
    const near = this.#near;
    const stream = this.#mux.adopt(id, sent);
    stream.on('error', () => near.destroy());
    stream.on('close', () => near.end());
    near.on('error', () => stream.destroy());
    near.on('close', () => stream.destroy());
    if (near.destroyed) stream.destroy();
    near.setNoDelay(true);
    if (this.#head.length > 0) stream.write(this.#head);
    near.pipe(stream);
    stream.pipe(near);
  }

  /** The platform ends what is idle; and a node that has fallen silent is found by it. */
  #pingEvery(seconds: number): void {
    this.#cancelPing();
    this.#cancelPing = this.#clock.after(seconds * 1_000, () => {
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send('{"action":"ping"}');
      this.#pingEvery(seconds);
    });
  }

  #unreachable(why: string): void {
    this.#answered = true;
    const {status} = serviceUnavailable(`no way to the node: ${why}`);
    refuse(this.#near, {status: status.code, headers: {'content-type': 'application/json'}, body: JSON.stringify(status)});
    this.#socket.close();
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  const end = text.indexOf('\n');
  try {
    return JSON.parse(end < 0 ? text : text.slice(0, end)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** What the server answered instead of an upgrade. */
function refuse(near: Socket, {status, headers, body}: Refusal): void {
  const lines = [`HTTP/1.1 ${status} Refused`, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  for (const [name, values] of Object.entries(headers))
    if (!ownHeaders.has(name)) for (const value of [values].flat()) lines.push(`${name}: ${value}`);
  near.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
