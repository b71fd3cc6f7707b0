/**
 * The entry of a REST function: an event in, an answer out, buffered or streamed as its row in functions.ts says. Middleware around the
 * request counts it and turns whatever fails into a Status. Called with a plain event, outside of Lambda, it answers with the whole body.
 */
import middy from '@middy/core';
import {failure, StatusError} from '../../shared/errors.ts';
import {compressed, worthCompressing} from '../../shared/http/compress.ts';
import type {ApiResponse} from '../../shared/http/messages.ts';
import {statusOf} from '../../shared/http/status.ts';
import {type FunctionName, functions} from '../functions.ts';
import {type ProxyResult, proxyResult} from './answer.ts';
import {clusterOf, type MoreOf, type PartsOf} from './cluster.ts';
import {doors} from './doors.ts';
import {log} from './log.ts';
import {counted} from './metrics.ts';
import {requestOf} from './proxy-event.ts';
import {type ResponseStream, sendStream, type WithHead} from './stream.ts';

/** What is used of Lambda's context; tests may leave out the rest. */
export interface Invocation {
  awsRequestId?: string;
  getRemainingTimeInMillis?(): number;
}

export type RestHandler = (event: unknown, context?: Invocation) => Promise<ProxyResult>;

interface LambdaGlobal {
  streamifyResponse(handler: (event: unknown, stream: ResponseStream, context: Invocation) => Promise<void>): RestHandler;
  HttpResponseStream: {from: WithHead};
}

/** A buffered answer is on its way this long before the invocation is cut: then it is said that time ran out, and not by the gateway. */
const answerMs = 500;
/** Lambda takes ten seconds before the first request for a failure; what is not open by then opens with it. */
const openingMs = 8_000;
/** A stream ends this long before its invocation would: its last bookmark and its end still have to leave. */
const farewellMs = 10_000;
const longestMs = 900_000;
/** A write is decided this long before a buffered invocation is cut: the answer is the one that tells what became of it. */
const decidedMs = 1_000;

/** The global that Lambda's runtime makes. The SDK makes one of the same name wherever it is loaded, without what streams. */
function runtime(): LambdaGlobal | undefined {
  const {awslambda} = globalThis as unknown as {awslambda?: LambdaGlobal};
  return awslambda?.streamifyResponse && awslambda;
}

export interface RestOptions {
  more?: MoreOf;
  /** Awaited before an invocation ends: what is left to be said. */
  over?(): Promise<void>;
}

/** On Lambda it resolves when the store is open: the first request then finds a warm environment, and the phase before it has more CPU. */
export async function rest(name: FunctionName, parts: PartsOf, {more, over}: RestOptions = {}): Promise<RestHandler> {
  const cluster = clusterOf(name, parts, more);
  const {streams} = functions[name];
  const run = middy<unknown, ApiResponse>({timeoutEarlyInMillis: answerMs, timeoutEarlyResponse: outOfTime})
    .use(counted(name))
    .use({
      onError: (request) => {
        request.response = failed(request.error, request.event);
      },
    })
    .handler(async (event: unknown, context: Invocation) => {
      const request = requestOf(event, cluster.environment());
      const remainingMs = context.getRemainingTimeInMillis?.();
      if (remainingMs !== undefined) request.deadline = doors.clock.now() + Math.max(remainingMs - (streams ? farewellMs : decidedMs), 0);
      const {handle} = await cluster.open();
      const response = await handle(request);
      return worthCompressing(response, request.headers['accept-encoding']) ? compressed(response) : response;
    }) as (event: unknown, context: Invocation) => Promise<ApiResponse>;

  const lambda = runtime();
  if (lambda) {
    const opened = cluster.open().catch((error: unknown) => log.error({error: String(error)}, 'not opened; the first request tries again'));
    await Promise.race([opened, new Promise<void>((resolve) => void doors.clock.after(openingMs, resolve))]);
  }
  if (lambda && streams)
    return lambda.streamifyResponse(async (event, stream, context) => {
      const endsAt = doors.clock.now() + Math.max((context.getRemainingTimeInMillis?.() ?? longestMs) - farewellMs, 0);
      await sendStream(stream, await run(event, context), lambda.HttpResponseStream.from, doors.clock, endsAt);
      await over?.();
    });
  return async (event, context = {}) => {
    const response = await run(event, context);
    const body = await whole(response.body);
    await over?.();
    return proxyResult(response, body) ?? proxyResult(...tooLong(body.length))!;
  };
}

function outOfTime(): never {
  throw failure(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout');
}

function failed(error: unknown, event: unknown): ApiResponse {
  if (!(error instanceof StatusError)) {
    const {httpMethod: method, path} = (event ?? {}) as {httpMethod?: unknown; path?: unknown};
    log.error(
      {error: error instanceof Error ? (error.stack ?? error.message) : String(error), method, path},
      'request failed outside of the API',
    );
  }
  return statusResponse(statusOf(error));
}

function statusResponse(error: StatusError): ApiResponse & {body: Uint8Array} {
  return {
    status: error.status.code,
    headers: {'content-type': 'application/json', 'cache-control': 'no-cache, private', ...error.headers},
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
  };
}

function tooLong(bytes: number): [ApiResponse, Uint8Array] {
  const response = statusResponse(
    failure(500, 'InternalError', `the answer has ${bytes} bytes, more than can be sent at once: ask with "Accept-Encoding: gzip"`),
  );
  return [response, response.body];
}

async function whole(body: ApiResponse['body']): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body;
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
