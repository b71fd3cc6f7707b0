/** Calls on a runtime's socket: one gRPC channel, methods by name, errors in the seam's words. */
import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import {RuntimeError, type RuntimeErrorCode} from '../runtime.ts';
import {decode, encode, type Message} from './codec.ts';

export interface Method {
  path: string;
  request: Message;
  response: Message;
}

/** A list of hundreds of containers is larger than the library's four MiB. */
const maxMessageBytes = 64 * 1024 * 1024;
const noMetadata = new Metadata();

export class Channel {
  readonly #client: Client;

  /** `endpoint` is `unix:///path`, or a bare path. */
  constructor(endpoint: string) {
    this.#client = new Client(endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint, credentials.createInsecure(), {
      // containerd refuses the socket's path as an authority.
      'grpc.default_authority': 'localhost',
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      // A restarted runtime should be found at once, not after two minutes.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2000,
    });
  }

  /** No `timeoutMs`: as long as it takes. @throws RuntimeError */
  call(method: Method, request: object, timeoutMs?: number): Promise<Record<string, unknown>> {
    const options: CallOptions = timeoutMs === undefined ? {} : {deadline: Date.now() + timeoutMs};
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        (value: object) => Buffer.from(encode(method.request, value)),
        (bytes: Buffer) => decode(method.response, bytes),
        request,
        noMetadata,
        options,
        (error: ServiceError | null, value?: Record<string, unknown>) => (error ? reject(translate(error)) : resolve(value ?? {})),
      );
    });
  }

  stream(method: Method, request: object): ClientReadableStream<Record<string, unknown>> {
    return this.#client.makeServerStreamRequest(
      method.path,
      (value: object) => Buffer.from(encode(method.request, value)),
      (bytes: Buffer) => decode(method.response, bytes),
      request,
    );
  }

  get connected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  close(): void {
    this.#client.close();
  }
}

const codes: Readonly<Record<number, RuntimeErrorCode>> = {
  [status.NOT_FOUND]: 'notFound',
  [status.DEADLINE_EXCEEDED]: 'timeout',
  [status.UNAVAILABLE]: 'unavailable',
  [status.INVALID_ARGUMENT]: 'invalid',
  [status.UNIMPLEMENTED]: 'unsupported',
};

export function translate(error: ServiceError): RuntimeError {
  return new RuntimeError(codes[error.code] ?? 'failed', error.details || error.message, {cause: error});
}
