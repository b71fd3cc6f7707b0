/** HTTP/1.1 over one TLS connection, as cheap as it gets in JavaScript: the client shares the machine with what it measures. */
import {connect, type TLSSocket} from 'node:tls';
import {type Answer, type Connection, lines, type Target} from './connection.ts';

const none = Buffer.alloc(0);

export function openHttp1(target: Target): Promise<Connection> {
  const {hostname, port} = new URL(target.url);
  return new Promise((resolve, reject) => {
    const socket = connect({host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1']}, () =>
      resolve(new Http1(socket, target, hostname)),
    );
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}

interface Pending {
  keep: boolean;
  resolve(answer: Answer): void;
  reject(error: Error): void;
  /** For a watch: called once the head is in, and then gets the body. */
  onBody?: (chunk: Buffer) => void;
}

class Http1 implements Connection {
  readonly #socket: TLSSocket;
  readonly #headers: string;
  #pending: Pending | undefined;
  #rest: Buffer = none;
  #status = 0;
  /** Bytes of the body, or of the chunk, that are still to come; -1 while a head, -2 while the length of a chunk is awaited. */
  #left = -1;
  #chunked = false;
  #kept: Buffer[] = [];

  constructor(socket: TLSSocket, {token, gzip}: Target, host: string) {
    this.#socket = socket;
    this.#headers = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n${gzip ? 'Accept-Encoding: gzip\r\n' : ''}`;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server hung up')));
  }

  request(method: string, path: string, body?: Buffer, keep = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = {keep, resolve, reject};
      this.#send(method, path, body);
    });
  }

  async watch(path: string, onLine: (line: Buffer) => void): Promise<void> {
    await new Promise<Answer>((resolve, reject) => {
      this.#pending = {keep: false, resolve, reject, onBody: lines(onLine)};
      this.#send('GET', path);
    });
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  #send(method: string, path: string, body?: Buffer): void {
    const head = `${method} ${path} HTTP/1.1\r\n${this.#headers}`;
    if (!body) this.#socket.write(`${head}\r\n`);
    else {
      const text = Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
      this.#socket.write(Buffer.concat([text, body]));
    }
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = none;
    while (bytes.length > 0) {
      if (this.#left === -1) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) break;
        this.#readHead(bytes.toString('latin1', 0, end + 2));
        bytes = bytes.subarray(end + 4);
        if (this.#isBodiless()) this.#finish();
      } else if (this.#left === -2) {
        const end = bytes.indexOf('\r\n');
        if (end < 0) break;
        const length = Number.parseInt(bytes.toString('latin1', 0, end), 16);
        if (length === 0) {
          if (bytes.length < end + 4) break;
          bytes = bytes.subarray(end + 4);
          this.#finish();
        } else {
          // The line end behind the chunk is read as part of it.
          this.#left = length + 2;
          bytes = bytes.subarray(end + 2);
        }
      } else {
        const part = bytes.subarray(0, this.#left);
        this.#left -= part.length;
        bytes = bytes.subarray(part.length);
        const data = this.#chunked && this.#left < 2 ? part.subarray(0, Math.max(part.length - 2 + this.#left, 0)) : part;
        if (this.#pending?.onBody) this.#pending.onBody(data);
        else if (this.#pending?.keep || this.#status > 299) this.#kept.push(data);
        if (this.#left > 0) continue;
        if (this.#chunked) this.#left = -2;
        else this.#finish();
      }
    }
    this.#rest = bytes;
  }

  #isBodiless(): boolean {
    return this.#left === 0;
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    this.#chunked = length === null && /\r\ntransfer-encoding: *chunked/i.test(head);
    this.#left = this.#chunked ? -2 : Number(length?.[1] ?? 0);
    if (this.#pending?.onBody && this.#status === 200) this.#pending.resolve({status: 200, body: none});
  }

  #finish(): void {
    this.#left = -1;
    const pending = this.#pending;
    const body = this.#kept.length > 0 ? Buffer.concat(this.#kept) : none;
    this.#kept = [];
    this.#pending = undefined;
    if (pending?.onBody && this.#status === 200) return;
    pending?.resolve({status: this.#status, body});
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
