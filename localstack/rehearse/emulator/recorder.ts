/**
 * Stands between functions and the emulator and keeps what each of them asked for: every function has an access key of its own. What comes
 * of it is held against the roles that the CDK app grants (least privilege, both ways), in IAM's own words.
 */
import {createHash} from 'node:crypto';
import {Agent, createServer, type IncomingMessage, type Server, type ServerResponse, request as send} from 'node:http';
import type {AddressInfo} from 'node:net';
import {callsOf} from './iam-calls.ts';

/** One line of the record. */
export interface RecordedCall {
  /** The function's logical id in the template. */
  function: string;
  /** As IAM names it: dynamodb:PutItem, ssm:GetParameter ... */
  action: string;
  /** Table, parameter, queue ... by its name. */
  resource: string;
  /** Of DynamoDB's items: cluster and kind of the partition key, such as `default|o|`. */
  leadingKey?: string;
  count: number;
}

/** The access key under which a function's environments sign. */
export function accessKeyOf(functionName: string): string {
  return `ASIA${createHash('sha256').update(functionName).digest('hex').slice(0, 16).toUpperCase()}`;
}

/** Answers what the emulator would not, such as posts to WebSocket connections. Returns false for anything else. */
export type Intercept = (request: IncomingMessage, body: Buffer, response: ServerResponse) => boolean;

const keptAliveMs = 60_000;

export class Recorder {
  readonly #upstream: URL;
  readonly #agent = new Agent({keepAlive: true});
  readonly #names = new Map<string, string>();
  readonly #calls = new Map<string, RecordedCall>();
  readonly #server: Server;
  intercept: Intercept = () => false;

  constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(502).end(String(error));
      });
    });
    this.#server.requestTimeout = 0;
    // Environments are frozen between invocations: their connections last about as long as AWS's own do.
    this.#server.keepAliveTimeout = keptAliveMs;
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Whose calls a key's are. */
  know(accessKey: string, functionId: string): void {
    this.#names.set(accessKey, functionId);
  }

  get calls(): RecordedCall[] {
    const order = (call: RecordedCall): string => `${call.function} ${call.action} ${call.resource} ${call.leadingKey ?? ''}`;
    return [...this.#calls.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    this.#note(request, body);
    if (!this.intercept(request, body, response)) this.#forward(request, body, response);
  }

  #note(request: IncomingMessage, body: Buffer): void {
    const credential = /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\//.exec(request.headers.authorization ?? '');
    const by = this.#names.get(credential?.[1] ?? '');
    if (by === undefined) return;
    const asked = {service: credential![2]!, method: request.method ?? '', url: request.url ?? '', target: request.headers['x-amz-target']};
    for (const call of callsOf({...asked, target: String(asked.target ?? ''), body: body.toString()})) {
      const key = JSON.stringify([by, call]);
      const known = this.#calls.get(key);
      if (known) known.count++;
      else this.#calls.set(key, {function: by, ...call, count: 1});
    }
  }

  #forward(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const {hostname, port} = this.#upstream;
    const forwarded = send(
      {
        hostname,
        port,
        agent: this.#agent,
        method: request.method,
        path: request.url,
        headers: {...request.headers, 'content-length': body.length, connection: 'keep-alive'},
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on('error', (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(error.message);
    });
    forwarded.end(body);
  }
}
