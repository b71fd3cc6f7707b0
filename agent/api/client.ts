/**
 * The agent's way to the API: the client of shared/client, at the rate that the flags allow. Its watches share one WebSocket where the server
 * offers it. Whoever dials another connection to the server takes `credentials`.
 */
import {connect, type KubeClient} from '../../shared/client/node/connect.ts';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import type {Clock} from '../../shared/clock.ts';
import {TokenBucket} from './token-bucket.ts';

export type ApiClient = Pick<KubeClient, 'request' | 'informer' | 'credentials' | 'close'>;

export interface ApiClientOptions {
  credentials: Credentials;
  userAgent: string;
  /** Requests per second; negative: as many as there are. */
  qps: number;
  burst: number;
  clock: Clock;
}

/** Pods can wait for a server that is slow, but not for one that is gone. */
const timeoutMs = 30_000;

export function openClient({credentials, userAgent, qps, burst, clock}: ApiClientOptions): Promise<ApiClient> {
  const bucket = qps < 0 ? undefined : new TokenBucket(qps, burst, clock);
  return connect({credentials, userAgent, clock, timeoutMs, ...(bucket && {pace: (priority, signal) => bucket.take(priority, signal)})});
}
