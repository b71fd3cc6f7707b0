/** Tokens of service accounts for pods: asked for once, kept while they are good, asked for again well before they are not. */
import type {Clock} from '../../shared/clock.ts';
import type {TokenRequest} from '../volumes/payload.ts';
import type {ApiClient} from './client.ts';

interface Entry {
  token: string;
  refreshAt: number;
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

export class TokenCache {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #stale: (uid: string) => void;
  readonly #entries = new Map<string, Entry>();

  constructor(client: ApiClient, clock: Clock, stale: (uid: string) => void) {
    this.#client = client;
    this.#clock = clock;
    this.#stale = stale;
  }

  async get(request: TokenRequest): Promise<string> {
    const key = JSON.stringify(request);
    const known = this.#entries.get(key);
    const now = this.#clock.now();
    if (known && known.refreshAt > now) return known.token;
    const {namespace, serviceAccount, audience, expirationSeconds, pod} = request;
    const {status} = await this.#client.request<Answer>('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
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
    const life = Date.parse(status.expirationTimestamp) - now;
    const wait = Math.max(1000, Math.min(life * usedUp, longestMs) - Math.random() * jitterMs);
    known?.cancel();
    const cancel = this.#clock.after(wait, () => this.#stale(pod.uid));
    this.#entries.set(key, {token: status.token, refreshAt: now + wait, cancel});
    return status.token;
  }

  forget(uid: string): void {
    for (const [key, entry] of this.#entries) {
      if ((JSON.parse(key) as TokenRequest).pod.uid !== uid) continue;
      entry.cancel();
      this.#entries.delete(key);
    }
  }
}
