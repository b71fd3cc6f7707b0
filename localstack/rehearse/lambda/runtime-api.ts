/**
 * The Runtime API that one execution environment talks to: it asks for an invocation, posts the answer whole or as a stream, asks again.
 * Knows nothing of the process behind it (environment.ts). One invocation at a time, as on Lambda.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {Preludes} from './prelude.ts';

export interface Invocation {
  id: string;
  event: Uint8Array;
  /** Wall clock, ms. */
  deadline: number;
  functionArn: string;
}

/** Where a streamed answer goes, piece by piece. */
export interface StreamSink {
  /** The metadata before the eight NUL bytes, parsed. Absent for a stream without any. */
  head(prelude: Prelude): void;
  data(piece: Uint8Array): void;
}

export interface Prelude {
  statusCode?: number;
  headers?: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  cookies?: string[];
}

/** `payload` is what the handler returned, as JSON; a streamed answer has gone to the sink (or is the payload, where none was given). */
export interface Answer {
  payload: Buffer;
  streamed: boolean;
}

/** The function failed, or the environment did. `message` is what its log would show. */
export class FunctionError extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

interface Current {
  invocation: Invocation;
  sink: StreamSink | undefined;
  done(answer: Answer): void;
  fail(error: FunctionError): void;
}

const invocations = '/2018-06-01/runtime/invocation/';

export class RuntimeApi {
  readonly #server: Server;
  #next: ServerResponse | undefined;
  #current: Current | undefined;
  #asked: (() => void) | undefined;
  #initError: string | undefined;

  constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response));
    // An environment waits for its next invocation for as long as it lives, and may be frozen meanwhile.
    this.#server.requestTimeout = 0;
    this.#server.keepAliveTimeout = 0;
  }

  /** Resolves with host:port. */
  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the runtime said when it could not load the handler. */
  get initError(): string | undefined {
    return this.#initError;
  }

  /** Resolves when the runtime has asked for its next invocation. */
  asked(): Promise<void> {
    if (this.#next) return Promise.resolve();
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  /** Only after `asked`. @throws FunctionError */
  invoke(invocation: Invocation, sink?: StreamSink): Promise<Answer> {
    const next = this.#next;
    if (!next || this.#current) throw new Error('the runtime has not asked for an invocation');
    this.#next = undefined;
    return new Promise((done, fail) => {
      this.#current = {invocation, sink, done, fail};
      next.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': invocation.event.length,
        'Lambda-Runtime-Aws-Request-Id': invocation.id,
        'Lambda-Runtime-Deadline-Ms': String(invocation.deadline),
        'Lambda-Runtime-Invoked-Function-Arn': invocation.functionArn,
        'Lambda-Runtime-Trace-Id': `Root=1-${Math.trunc(Date.now() / 1000).toString(16)}-${invocation.id.replaceAll('-', '').slice(0, 24)};Sampled=0`,
      });
      next.end(invocation.event);
    });
  }

  /** Ends what is under way: the environment is gone. */
  fail(error: FunctionError): void {
    const current = this.#current;
    this.#current = undefined;
    current?.fail(error);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (request.method === 'GET' && path === `${invocations}next`) {
      this.#next = response;
      this.#asked?.();
      this.#asked = undefined;
      return;
    }
    if (path === '/2018-06-01/runtime/init/error') {
      void read(request).then((body) => {
        this.#initError = body.toString();
        accept(response);
      });
      return;
    }
    const [id, what] = path.startsWith(invocations) ? path.slice(invocations.length).split('/') : [];
    const current = this.#current;
    if (!current || current.invocation.id !== id || (what !== 'response' && what !== 'error')) {
      response.writeHead(400, {'Content-Type': 'application/json'});
      response.end('{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}');
      return;
    }
    if (what === 'error') void this.#failed(current, request, response);
    else if (request.headers['lambda-runtime-function-response-mode'] === 'streaming') this.#streamed(current, request, response);
    else void this.#answered(current, request, response);
  }

  async #answered(current: Current, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const payload = await read(request);
    this.#settle(current, response, () => current.done({payload, streamed: false}));
  }

  async #failed(current: Current, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await read(request)).toString();
    this.#settle(current, response, () => current.fail(errorOf(body)));
  }

  #streamed(current: Current, request: IncomingMessage, response: ServerResponse): void {
    const framed = request.headers['content-type'] === 'application/vnd.awslambda.http-integration-response';
    const rest: Uint8Array[] = [];
    const sink = current.sink ?? {head() {}, data: (piece: Uint8Array) => rest.push(piece)};
    const preludes = new Preludes(sink, framed);
    let broken: unknown;
    request.on('data', (piece: Buffer) => {
      try {
        if (broken === undefined && this.#current === current) preludes.push(piece);
      } catch (error) {
        broken = error;
      }
    });
    // A runtime that dies in the middle is told of by its process (fail).
    request.on('error', () => {});
    request.once('end', () => {
      const type = request.trailers['lambda-runtime-function-error-type'];
      this.#settle(current, response, () => {
        if (broken !== undefined) current.fail(new FunctionError('Runtime.MalformedPrelude', String(broken)));
        else if (type) current.fail(new FunctionError(type, fromTrailer(request.trailers['lambda-runtime-function-error-body'])));
        else current.done({payload: Buffer.concat(rest), streamed: true});
      });
    });
  }

  #settle(current: Current, response: ServerResponse, then: () => void): void {
    if (this.#current !== current) return;
    this.#current = undefined;
    accept(response);
    then();
  }
}

function accept(response: ServerResponse): void {
  response.writeHead(202, {'Content-Type': 'application/json', 'Content-Length': 15});
  response.end('{"status":"OK"}');
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function errorOf(body: string): FunctionError {
  try {
    const {errorType, errorMessage} = JSON.parse(body) as {errorType?: string; errorMessage?: string};
    return new FunctionError(errorType ?? 'Error', errorMessage ?? '');
  } catch {
    return new FunctionError('Error', body);
  }
}

const fromTrailer = (value: string | undefined): string => (value ? Buffer.from(value, 'base64').toString() : '');
