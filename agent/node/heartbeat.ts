/** That the node lives: a lease renewed every ten seconds, with one request; rarely where a connection tells it (docs/tunnel.md). */
import type {Clock} from '../../shared/clock.ts';
import {isReason} from '../../shared/errors.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {ApiClient} from '../api/client.ts';

const namespace = 'kube-node-lease';
const durationSeconds = 40;
export const renewIntervalMs = 10_000;
const firstRetryMs = 200;
const longestRetryMs = 7_000;

export interface HeartbeatOptions {
  client: Pick<ApiClient, 'request'>;
  clock: Clock;
  name: string;
  /** The lease goes with its node. */
  nodeUid(): string | undefined;
  onError(error: Error): void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #lease: KubeObject | undefined;
  #cancel = (): void => {};
  #stopped = false;
  #retryMs = firstRetryMs;
  #everyMs = renewIntervalMs;
  #beating = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  start(): this {
    void this.#beat();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** A connection tells of the node from now on: `leaseSeconds` is how often it still has to. Undefined: not any more. */
  told(leaseSeconds: number | undefined): void {
    this.#everyMs = leaseSeconds === undefined ? renewIntervalMs : Math.max(leaseSeconds * 1_000, renewIntervalMs);
    // Where a connection has just begun that is worth writing; where it has ended it may be back before the next one is due.
    if (!this.#stopped && !this.#beating) this.#beatIn(leaseSeconds === undefined ? renewIntervalMs : 0);
  }

  #beatIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    this.#beating = true;
    let wait: number | undefined;
    try {
      this.#lease = await this.#renew();
      this.#retryMs = firstRetryMs;
    } catch (error) {
      // Written by another, or taken away: looked at anew.
      this.#lease = undefined;
      this.#options.onError(error as Error);
      wait = this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    }
    this.#beating = false;
    if (!this.#stopped) this.#beatIn(wait ?? this.#everyMs);
  }

  async #renew(): Promise<KubeObject> {
    const {client, name} = this.#options;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const current = this.#lease ?? (await this.#find(`${path}/${name}`));
    const lease = this.#draft(current);
    const options = {body: lease, priority: 'free', timeoutMs: renewIntervalMs} as const;
    return current ? client.request<KubeObject>('PUT', `${path}/${name}`, options) : client.request<KubeObject>('POST', path, options);
  }

  async #find(path: string): Promise<KubeObject | undefined> {
    try {
      return await this.#options.client.request<KubeObject>('GET', path, {priority: 'free'});
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #draft(current: KubeObject | undefined): object {
    const {name} = this.#options;
    const uid = this.#options.nodeUid();
    return {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: {
        ...(current?.metadata ?? {name, namespace}),
        managedFields: undefined,
        ...(uid && {ownerReferences: [{apiVersion: 'v1', kind: 'Node', name, uid}]}),
      },
      spec: {
        ...current?.spec,
        holderIdentity: name,
        leaseDurationSeconds: durationSeconds,
        renewTime: new Date(this.#options.clock.now()).toISOString().replace(/Z$/, '000Z'),
      },
    };
  }
}
