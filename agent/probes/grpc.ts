/** The health service of gRPC, asked as a load balancer would. */
import {Client, credentials, Metadata, type ServiceError, status} from '@grpc/grpc-js';
import {compile, decode, encode} from '../runtime/cri/codec.ts';
import type {Outcome} from './http.ts';

const messages = compile({HealthRequest: '1 service string', HealthResponse: '1 status int32'});
const words = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const serving = 1;

export function grpcCheck(host: string, port: number, service: string, timeoutMs: number): Promise<Outcome> {
  const client = new Client(`${host.includes(':') ? `[${host}]` : host}:${port}`, credentials.createInsecure(), {
    'grpc.primary_user_agent': 'kube-probe/1.36',
    // Each probe looks anew, as if nothing had been there before.
    'grpc.use_local_subchannel_pool': 1,
  });
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      (value: {service: string}) => Buffer.from(encode(messages.HealthRequest, value)),
      (bytes: Buffer) => decode(messages.HealthResponse, bytes) as {status: number},
      {service},
      new Metadata(),
      {deadline: Date.now() + timeoutMs},
      (error: ServiceError | null, value?: {status: number}) => {
        client.close();
        resolve(error ? failed(error, `${host}:${port}`, timeoutMs) : judge(value?.status ?? 0));
      },
    );
  });
}

const judge = (state: number): Outcome =>
  state === serving
    ? {result: 'success', output: 'service healthy'}
    : {result: 'failure', output: `service unhealthy (responded with ${JSON.stringify(words[state] ?? String(state))})`};

function failed({code, details}: ServiceError, address: string, timeoutMs: number): Outcome {
  const seconds = `${timeoutMs / 1000}s`;
  if (code === status.UNIMPLEMENTED)
    return {
      result: 'failure',
      output: 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ' + details,
    };
  if (code === status.DEADLINE_EXCEEDED) return {result: 'failure', output: `timeout: health rpc did not complete within ${seconds}`};
  if (code === status.UNAVAILABLE)
    return {result: 'failure', output: `timeout: failed to connect service ${JSON.stringify(address)} within ${seconds}: ${details}`};
  return {result: 'failure', output: `error: health rpc probe failed: ${details}`};
}
