/** The node's entry in the API: made where it is missing, its labels kept, its status written when it changes and now and then without. */

import type {Clock} from '../../shared/clock.ts';
import {isReason} from '../../shared/errors.ts';
import type {KubeObject} from '../../shared/object.ts';
import {ageMs} from '../age.ts';
import type {ApiClient} from '../api/client.ts';
import {defaultLabels, type NodeSpecFacts, newNode} from './node-object.ts';

export interface RegistrarOptions {
  client: Pick<ApiClient, 'request'>;
  clock: Clock;
  spec: NodeSpecFacts;
  register: boolean;
  /** The status as it is now. */
  status(previous: KubeObject['status']): Promise<Record<string, unknown>>;
  /** How often it is looked at, and how often written although nothing changed. */
  computeMs: number;
  reportMs: number;
  onError(error: Error): void;
  onNode(node: KubeObject): void;
}

const firstRetryMs = 100;
const longestRetryMs = 7_000;

export class Registrar {
  readonly #options: RegistrarOptions;
  #reportMs: number;
  #node: KubeObject | undefined;
  #written = '';
  #writtenAt = 0;
  #cancel = (): void => {};
  #stopped = false;
  #retryMs = firstRetryMs;
  #running = false;
  #again = false;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#reportMs = options.reportMs;
  }

  get node(): KubeObject | undefined {
    return this.#node;
  }

  start(): this {
    void this.#run();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Something that the status shows has changed. */
  touch(): void {
    if (this.#running) this.#again = true;
    else void this.#run();
  }

  /** A connection tells that the node lives: then its status is written this often although nothing changed. Undefined: as without. */
  told(leaseSeconds: number | undefined): void {
    this.#reportMs = Math.max(this.#options.reportMs, (leaseSeconds ?? 0) * 1_000);
  }

  /** Seen by a watch. */
  seen(node: KubeObject | undefined): void {
    this.#node = node;
    const isSilent = node?.status?.conditions?.some(({reason}: {reason?: string}) => reason === 'NodeStatusUnknown');
    // Somebody has not heard of us for too long: it is written anew, though nothing has changed.
    if (isSilent) this.#written = '';
    if (!node || isSilent) this.touch();
  }

  async #run(): Promise<void> {
    this.#cancel();
    this.#running = true;
    let wait = this.#options.computeMs;
    try {
      if (!this.#node) await this.#register();
      else await this.#report();
      this.#retryMs = firstRetryMs;
    } catch (error) {
      if (isReason(error, 'NotFound')) this.#node = undefined;
      this.#options.onError(error as Error);
      wait = this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    }
    this.#running = false;
    if (this.#stopped) return;
    if (this.#again) {
      this.#again = false;
      wait = 0;
    }
    this.#cancel = this.#options.clock.after(wait, () => void this.#run());
  }

  async #register(): Promise<void> {
    const {client, spec, register} = this.#options;
    const status = await this.#options.status(undefined);
    if (register) {
      try {
        this.#node = await client.request<KubeObject>('POST', '/api/v1/nodes', {body: {...newNode(spec), status}, priority: 'free'});
        this.#remember(status);
        this.#options.onNode(this.#node);
        return;
      } catch (error) {
        if (!isReason(error, 'AlreadyExists')) throw error;
      }
    }
    this.#node = await client.request<KubeObject>('GET', `/api/v1/nodes/${spec.name}`, {priority: 'free'});
    this.#options.onNode(this.#node);
    await this.#fixLabels();
    await this.#fixProviderId();
    await this.#report();
  }

  /** Labels that the flags name are ours to keep; taints were for the first time only. */
  async #fixLabels(): Promise<void> {
    const {client, spec, register} = this.#options;
    if (!register) return;
    const wanted = {...defaultLabels(spec.name, spec.architecture), ...spec.labels};
    const present = this.#node?.metadata.labels ?? {};
    const missing = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => present[key] !== value));
    if (Object.keys(missing).length === 0) return;
    const options = {body: {metadata: {labels: missing}}, contentType: 'application/merge-patch+json', priority: 'free'} as const;
    this.#node = await client.request<KubeObject>('PATCH', `/api/v1/nodes/${spec.name}`, options);
  }

  /** A node that was there before its machine could be named; one that is named stays so. */
  async #fixProviderId(): Promise<void> {
    const {client, spec, register} = this.#options;
    if (!register || !spec.providerId || this.#node?.spec?.providerID) return;
    const options = {body: {spec: {providerID: spec.providerId}}, contentType: 'application/merge-patch+json', priority: 'free'} as const;
    this.#node = await client.request<KubeObject>('PATCH', `/api/v1/nodes/${spec.name}`, options);
  }

  async #report(): Promise<void> {
    const {client, clock, spec} = this.#options;
    const status = await this.#options.status(this.#node?.status);
    const changed = fingerprint(status) !== this.#written;
    if (!changed && ageMs(this.#writtenAt, clock.now()) < this.#reportMs) return;
    // Addresses merge by their type: a list with one more of a type would lose one.
    const body = {status: {...status, addresses: [{$patch: 'replace'}, ...(status.addresses as object[])]}};
    const answer = await client.request<KubeObject>('PATCH', `/api/v1/nodes/${spec.name}/status`, {
      body,
      contentType: 'application/strategic-merge-patch+json',
      priority: 'free',
    });
    this.#node = answer;
    this.#remember(status);
  }

  #remember(status: Record<string, unknown>): void {
    this.#written = fingerprint(status);
    this.#writtenAt = this.#options.clock.now();
  }
}

/** A heartbeat alone is no change. */
const fingerprint = (status: Record<string, unknown>): string =>
  JSON.stringify(status, (key, value) => (key === 'lastHeartbeatTime' ? undefined : value));
