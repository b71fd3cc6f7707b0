/**
 * What to say to bytes that Node's HTTP/1 parser refused. An unknown method is no such thing: the API has an answer for BREW (405
 * with a Status), so a request with a method that the parser does not know is read here, in the simple form that one packet has.
 */
import {METHODS, STATUS_CODES} from 'node:http';
import type {Duplex} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {parseTarget} from '../../shared/http/target.ts';
import {answer, type Desk, isStream} from './answer.ts';
import {peerOf} from './peer.ts';
import {GatewayRequest} from './request.ts';

interface ParserError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

export function brokenRequest(desk: Desk): (error: ParserError, socket: Duplex) => void {
  return (error, socket) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const request = error.code === 'HPE_INVALID_METHOD' && error.rawPacket ? oddMethod(error.rawPacket, socket as TLSSocket) : undefined;
    if (request) void reply(desk, request, socket);
    else if (error.code === 'HPE_HEADER_OVERFLOW') hangUp(socket, 431);
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') hangUp(socket, 408);
    else hangUp(socket, 400);
  };
}

const goesWithinMs = 5_000;

/** Of a connection that was ended here: it goes, whatever its client still says, and be it nothing at all for as long as it likes. */
export function seeOff(socket: Duplex): void {
  socket.resume();
  setTimeout(() => socket.destroy(), goesWithinMs).unref();
}

/** Go's own words for what never reaches a handler. */
export function hangUp(socket: Duplex, status: number): void {
  const line = `${status} ${STATUS_CODES[status]}`;
  socket.end(`HTTP/1.1 ${line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${line}`);
  seeOff(socket);
}

function oddMethod(packet: Buffer, socket: TLSSocket): GatewayRequest | undefined {
  const text = packet.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first, ...lines] = text.slice(0, end).split('\r\n');
  const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\S+) HTTP\/1\.[01]$/.exec(first!);
  // A method that the parser knows means that something behind it was wrong.
  if (!parts || METHODS.includes(parts[1]!)) return undefined;
  const target = parseTarget(parts[2]!);
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    if (!field) return undefined;
    const name = field[1]!.toLowerCase();
    headers[name] = headers[name] === undefined ? field[2]! : `${headers[name]}, ${field[2]}`;
  }
  return target && new GatewayRequest(parts[1]!, target, headers, peerOf(socket));
}

/** Closes afterwards: the parser is lost, and with it where the next request would begin. */
async function reply(desk: Desk, request: GatewayRequest, socket: Duplex): Promise<void> {
  const {status, headers, body} = await answer(desk, request);
  if (isStream(body) || !socket.writable) {
    socket.destroy();
    return;
  }
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-length') continue;
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`);
  }
  lines.push(`date: ${new Date().toUTCString()}`, `content-length: ${body?.length ?? 0}`, 'connection: close', '', '');
  socket.write(lines.join('\r\n'));
  socket.end(body);
  seeOff(socket);
}
