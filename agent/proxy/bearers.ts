/** The API server once for each token that pods show: on a serverless cluster the watches of one token share a WebSocket. */
import {createHash} from 'node:crypto';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import {Upstream} from '../../shared/client/node/relay/upstream.ts';
import type {Clock} from '../../shared/clock.ts';

/** More watch over HTTP, each for itself. */
const maxBearers = 256;
/** Tokens are replaced each hour; what was watched with the old one ends on its own. */
const idleMs = 120_000;

interface Bearer {
  upstream: Upstream;
  usedAt: number;
}

export class Bearers {
  readonly #server: Omit<Credentials, 'present'>;
  readonly #clock: Clock;
  readonly #known = new Map<string, Bearer>();
  #cancelSweep: (() => void) | undefined;

  constructor(server: Omit<Credentials, 'present'>, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  get size(): number {
    return this.#known.size;
  }

  get carried(): number {
    return [...this.#known.values()].reduce((sum, {upstream}) => sum + upstream.carried, 0);
  }

  /** Undefined when too many are at work. The token is shown to the server and to nobody else, and is not kept in the clear as a key. */
  of(authorization: string): Upstream | undefined {
    const key = createHash('sha256').update(authorization).digest('base64');
    const known = this.#known.get(key);
    if (known) {
      known.usedAt = this.#clock.now();
      return known.upstream;
    }
    if (this.#known.size >= maxBearers && !this.#dropOldest()) return undefined;
    const credentials: Credentials = {...this.#server, present: async () => ({authorization})};
    const upstream = new Upstream(new HttpConnection(credentials), credentials);
    this.#known.set(key, {upstream, usedAt: this.#clock.now()});
    this.#cancelSweep ??= this.#clock.after(idleMs, () => this.#sweep());
    return upstream;
  }

  close(): void {
    this.#cancelSweep?.();
    for (const {upstream} of this.#known.values()) upstream.close();
    this.#known.clear();
  }

  /** Whoever makes tokens up must not keep out those who have one. */
  #dropOldest(): boolean {
    const idle = [...this.#known].filter(([, {upstream}]) => upstream.carried === 0);
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (!oldest) return false;
    oldest[1].upstream.close();
    return this.#known.delete(oldest[0]);
  }

  #sweep(): void {
    const idleSince = this.#clock.now() - idleMs;
    for (const [key, {upstream, usedAt}] of this.#known) {
      if (upstream.carried > 0 || usedAt > idleSince) continue;
      upstream.close();
      this.#known.delete(key);
    }
    this.#cancelSweep = this.#known.size > 0 ? this.#clock.after(idleMs, () => this.#sweep()) : undefined;
  }
}
