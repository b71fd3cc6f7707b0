/**
 * A REST API on loopback: a request finds its resource, becomes an event, is answered by its function, whole or as a stream. Below the
 * stage's path as on the API's own host name, and at the root as behind a custom domain.
 */
import type {IncomingMessage, ServerResponse} from 'node:http';
import {Throttled} from '../lambda/pool.ts';
import {type Answer, FunctionError, type Prelude, type StreamSink} from '../lambda/runtime-api.ts';
import type {Integration, RestApi} from './deployed.ts';
import {bufferedTimeoutMs, invocationPayloadLimit, requestBodyLimit, requestHeadersLimit, streamIdleMs, streamTimeoutMs} from './limits.ts';
import {ResourceTree} from './resource-tree.ts';
import {answerHeaders, gatewayAnswer, type HttpAnswer, type OwnAnswer, proxyAnswer} from './rest-answer.ts';
import {restEvent} from './rest-event.ts';

/** Runs a function. @throws FunctionError, Throttled */
export type Invoke = (functionName: string, event: Uint8Array, sink?: StreamSink) => Promise<Answer>;

export interface RestGateway {
  serve(request: IncomingMessage, response: ServerResponse): void;
}

/** `api` is asked anew for each request: a deployment changes it under a running gateway. */
export function restGateway(api: () => RestApi, invoke: Invoke, note: (line: string) => void): RestGateway {
  let tree: {of: RestApi; resources: ResourceTree} | undefined;
  const treeOf = (deployed: RestApi): ResourceTree => {
    if (tree?.of !== deployed) tree = {of: deployed, resources: new ResourceTree(deployed.resources)};
    return tree.resources;
  };
  return {
    serve(request, response) {
      const noted: Invoke = (name, event, sink) =>
        invoke(name, event, sink).catch((error: unknown) => {
          note(`${request.method} ${request.url}: ${name}: ${error instanceof FunctionError ? `${error.type}: ` : ''}${error}`);
          throw error;
        });
      const exchange = new Exchange(api(), treeOf(api()), noted, request, response);
      exchange.run().catch((error: unknown) => {
        note(`${request.method} ${request.url}: ${error instanceof Error ? error.stack : error}`);
        response.destroy();
      });
    },
  };
}

class Exchange {
  readonly #api: RestApi;
  readonly #resources: ResourceTree;
  readonly #invoke: Invoke;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #requestId = '';

  constructor(api: RestApi, resources: ResourceTree, invoke: Invoke, request: IncomingMessage, response: ServerResponse) {
    this.#api = api;
    this.#resources = resources;
    this.#invoke = invoke;
    this.#request = request;
    this.#response = response;
  }

  async run(): Promise<void> {
    const request = this.#request;
    // Node would add one of its own.
    this.#response.removeHeader('connection');
    const receivedAt = new Date();
    const [target = '/', query = ''] = splitOnce(request.url ?? '/', '?');
    const path = withoutStage(target, this.#api.stage);
    const match = this.#resources.match(path);
    const method = request.method ?? 'GET';
    const integration = match?.resource.methods[method] ?? match?.resource.methods['ANY'];
    if (!match || !integration) return this.#say('MISSING_AUTHENTICATION_TOKEN');
    if (integration.functionName === undefined) return this.#say('API_CONFIGURATION_ERROR');
    if (request.rawHeaders.reduce((sum, text) => sum + text.length, 0) > requestHeadersLimit) return this.#say('REQUEST_TOO_LARGE');
    const body = await readAtMost(request, requestBodyLimit);
    if (!body) return this.#say('REQUEST_TOO_LARGE');
    const facts = {method, path, query, rawHeaders: request.rawHeaders, body, sourceIp: request.socket.remoteAddress ?? '', receivedAt};
    const event = restEvent(facts, match, this.#api);
    this.#requestId = event.requestContext.requestId;
    const payload = Buffer.from(JSON.stringify(event));
    if (payload.length > invocationPayloadLimit) return this.#say('REQUEST_TOO_LARGE');
    await (integration.streams ? this.#stream(integration, payload) : this.#buffer(integration, payload));
  }

  async #buffer({functionName, timeoutMs}: Integration, event: Buffer): Promise<void> {
    const limit = deadline(Math.min(timeoutMs, bufferedTimeoutMs));
    try {
      // The function goes on after a time-out; its answer has nobody to go to.
      const outcome = await Promise.race([this.#invoke(functionName!, event), limit.passed]);
      if (outcome === undefined) return this.#say('INTEGRATION_TIMEOUT');
      if (outcome.payload.length > invocationPayloadLimit) return this.#say('BAD_GATEWAY');
      const answer = proxyAnswer(outcome.payload, this.#request.headers.accept, this.#api.binaryMediaTypes);
      if (answer) this.#answer(answer);
      else this.#say('BAD_GATEWAY');
    } catch (error) {
      this.#say(ownAnswerTo(error));
    } finally {
      limit.clear();
    }
  }

  /** A client that goes away does not stop the function, as on AWS: it streams into nothing until it ends. */
  async #stream({functionName, timeoutMs}: Integration, event: Buffer): Promise<void> {
    const response = this.#response;
    const limit = deadline(Math.min(timeoutMs, streamTimeoutMs));
    const idle = new IdleTimer(streamIdleMs, () => response.destroy());
    const sink: StreamSink = {
      head: (prelude) => {
        if (response.headersSent || response.destroyed) return;
        idle.touch();
        this.#writeHead(prelude);
      },
      data: (piece) => {
        idle.touch();
        if (!response.destroyed && !response.writableEnded) response.write(piece);
      },
    };
    try {
      const outcome = await Promise.race([this.#invoke(functionName!, event, sink), limit.passed]);
      if (outcome === undefined && !response.headersSent) return this.#say('INTEGRATION_TIMEOUT');
      if (outcome === undefined) return void response.destroy();
      if (!response.headersSent) this.#whole(outcome);
      else response.end();
    } catch (error) {
      // The status is out: all that can be said is that the body is not whole.
      if (response.headersSent) response.destroy();
      else this.#say(ownAnswerTo(error));
    } finally {
      limit.clear();
      idle.clear();
    }
  }

  /** A function behind a streaming integration that returned something instead. */
  #whole(outcome: Answer): void {
    if (outcome.streamed) this.#say('BAD_GATEWAY');
    else this.#answer(proxyAnswer(outcome.payload, '*/*', ['*/*']) ?? gatewayAnswer('BAD_GATEWAY', this.#api, this.#requestId));
  }

  #writeHead(prelude: Prelude): void {
    const headers = answerHeaders(prelude);
    for (const cookie of prelude.cookies ?? []) headers.push(['Set-Cookie', cookie]);
    this.#response.writeHead(prelude.statusCode ?? 200, this.#flat(headers));
    this.#response.flushHeaders();
  }

  #say(type: OwnAnswer): void {
    this.#answer(gatewayAnswer(type, this.#api, this.#requestId));
  }

  #answer({status, headers, body}: HttpAnswer): void {
    if (this.#response.destroyed || this.#response.headersSent) return;
    const framed: [string, string][] = [...headers, ['Content-Length', String(body.length)]];
    this.#response.writeHead(status, this.#flat(framed));
    this.#response.end(body);
    // What is left of a request that was refused.
    this.#request.resume();
  }

  /** Name and value in turn, so that repeated headers stay repeated. */
  #flat(headers: [string, string][]): string[] {
    return [...headers, ['x-amzn-RequestId', this.#requestId] as const].flat();
  }
}

function ownAnswerTo(error: unknown): OwnAnswer {
  if (error instanceof Throttled) return 'INTEGRATION_FAILURE';
  if (error instanceof FunctionError) return 'BAD_GATEWAY';
  throw error;
}

/** The path as a function sees it. */
function withoutStage(path: string, stage: string): string {
  if (path === `/${stage}`) return '/';
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : path;
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Undefined when there is more than that. */
async function readAtMost(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += (piece as Buffer).length;
    if (size <= limit) pieces.push(piece as Buffer);
  }
  return size > limit ? undefined : Buffer.concat(pieces);
}

function deadline(afterMs: number): {passed: Promise<undefined>; clear(): void} {
  let timer: NodeJS.Timeout;
  const passed = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), afterMs);
  });
  return {passed, clear: () => clearTimeout(timer)};
}

class IdleTimer {
  readonly #afterMs: number;
  readonly #then: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(afterMs: number, then: () => void) {
    this.#afterMs = afterMs;
    this.#then = then;
  }

  touch(): void {
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(this.#then, this.#afterMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
