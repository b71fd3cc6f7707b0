/** That the node lives: a lease renewed every ten seconds, with one request. */
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

  async #beat(): Promise<void> {
    let wait = renewIntervalMs;
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
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.after(wait, () => void this.#beat());
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
