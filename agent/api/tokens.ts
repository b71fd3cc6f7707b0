/** Tokens of service accounts for pods: asked for once, kept while they are good, asked for again well before they are not. */
import type {Clock} from '../../shared/clock.ts';
import type {TokenRequest} from '../volumes/payload.ts';
import type {ApiClient} from './client.ts';

interface Entry {
  token: string;
  refreshAt: number;
  expiresAt: number;
  cancel: () => void;
}

interface Answer {
  status: {token: string; expirationTimestamp: string};
}

/** Of its life; and never older than a day. */
const usedUp = 0.8;
const longestMs = 24 * 3_600_000;
/** Pods that were started together must not ask together. */
const jitterMs = 10_000;
/** A token that could not be had anew is used to its end; it is asked for again this much later. */
const retryMs = 30_000;

export class TokenCache {
  readonly #client: Pick<ApiClient, 'request'>;
  readonly #clock: Clock;
  readonly #stale: (uid: string) => void;
  readonly #entries = new Map<string, Entry>();

  constructor(client: Pick<ApiClient, 'request'>, clock: Clock, stale: (uid: string) => void) {
    this.#client = client;
    this.#clock = clock;
    this.#stale = stale;
  }

  async get(request: TokenRequest): Promise<string> {
    const key = JSON.stringify(request);
    const known = this.#entries.get(key);
    const now = this.#clock.now();
    if (known && known.refreshAt > now) return known.token;
    try {
      const {status} = await this.#ask(request);
      const expiresAt = Date.parse(status.expirationTimestamp);
      const wait = Math.max(1000, Math.min((expiresAt - now) * usedUp, longestMs) - Math.random() * jitterMs);
      this.#keep(key, request, {token: status.token, expiresAt, refreshAt: now + wait});
      return status.token;
    } catch (error) {
      if (!known || known.expiresAt <= now + retryMs) throw error;
      this.#keep(key, request, {...known, refreshAt: now + retryMs});
      return known.token;
    }
  }

  #ask({namespace, serviceAccount, audience, expirationSeconds, pod}: TokenRequest): Promise<Answer> {
    return this.#client.request<Answer>('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
      body: {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        spec: {
          audiences: audience ? [audience] : [],
          expirationSeconds,
          boundObjectRef: {kind: 'Pod', apiVersion: 'v1', name: pod.name, uid: pod.uid},
        },
      },
    });
  }

  #keep(key: string, {pod}: TokenRequest, entry: Omit<Entry, 'cancel'>): void {
    this.#entries.get(key)?.cancel();
    const cancel = this.#clock.after(entry.refreshAt - this.#clock.now(), () => this.#stale(pod.uid));
    this.#entries.set(key, {...entry, cancel});
  }

  forget(uid: string): void {
    for (const [key, entry] of this.#entries) {
      if ((JSON.parse(key) as TokenRequest).pod.uid !== uid) continue;
      entry.cancel();
      this.#entries.delete(key);
    }
  }
}
