/** HTTP/2, on Node's client: all workers share one connection, as client-go does it. */
import {type ClientHttp2Session, type ClientHttp2Stream, connect} from 'node:http2';
import {type Answer, type Connection, lines, type Target} from './connection.ts';

/** Wide enough that many watches and large lists do not wait for window updates. */
const windowBytes = 16 * 1024 * 1024;

export function openHttp2(target: Target): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const session = connect(target.url, {rejectUnauthorized: false, settings: {initialWindowSize: windowBytes}}, () => {
      session.setLocalWindowSize(windowBytes);
      resolve(new Http2(session, target));
    });
    session.once('error', reject);
  });
}

class Http2 implements Connection {
  readonly #session: ClientHttp2Session;
  readonly #headers: Record<string, string>;

  constructor(session: ClientHttp2Session, {token, gzip}: Target) {
    this.#session = session;
    session.setMaxListeners(0);
    session.on('error', () => {});
    this.#headers = {authorization: `Bearer ${token}`, accept: 'application/json', ...(gzip && {'accept-encoding': 'gzip'})};
  }

  request(method: string, path: string, body?: Buffer, keep = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open(method, path, body);
      let status = 0;
      const kept: Buffer[] = [];
      stream.on('response', (headers) => {
        status = headers[':status'] ?? 0;
      });
      stream.on('data', (chunk: Buffer) => {
        if (keep || status > 299) kept.push(chunk);
      });
      stream.on('error', reject);
      stream.on('end', () => resolve({status, body: Buffer.concat(kept)}));
    });
  }

  watch(path: string, onLine: (line: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = this.#open('GET', path);
      stream.on('response', (headers) => (headers[':status'] === 200 ? resolve() : reject(new Error(`watch: ${headers[':status']}`))));
      stream.on('data', lines(onLine));
      stream.on('error', reject);
    });
  }

  close(): void {
    this.#session.destroy();
  }

  #open(method: string, path: string, body?: Buffer): ClientHttp2Stream {
    const stream = this.#session.request(
      {':method': method, ':path': path, ...this.#headers, ...(body && {'content-type': 'application/json'})},
      {endStream: !body},
    );
    if (body) stream.end(body);
    return stream;
  }
}
