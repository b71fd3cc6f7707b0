/** Each static pod has a mirror in the API, so that it is seen there: made where it is missing or of another pod, removed with its pod. */
import type {Clock} from '../../shared/clock.ts';
import {isReason} from '../../shared/errors.ts';
import type {ApiClient} from '../api/client.ts';
import type {Log} from '../pods/context.ts';
import type {Mirrors} from '../pods/manager.ts';
import {annotation, type Pod} from '../pods/pod.ts';

export interface MirrorOptions {
  client: Pick<ApiClient, 'request'>;
  clock: Clock;
  node: string;
  nodeUid(): string | undefined;
  log: Log;
}

const retryMs = 3000;
/** A watch tells of what was made much sooner. */
const unheardMs = 10_000;

export class ApiMirrors implements Mirrors {
  readonly #options: MirrorOptions;
  readonly #busy = new Set<string>();
  /** Something was said of them while they were being seen to. */
  readonly #missed = new Set<string>();
  /** Made here, and not heard of yet. */
  readonly #made = new Map<string, {mirror: Pod; until: number}>();
  #statics: ReadonlyMap<string, Pod> = new Map();
  #mirrors: ReadonlyMap<string, Pod> = new Map();

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  update(statics: readonly Pod[], mirrors: ReadonlyMap<string, Pod>): void {
    this.#statics = new Map(statics.map((pod) => [keyOf(pod), pod]));
    this.#mirrors = mirrors;
    for (const key of mirrors.keys()) this.#made.delete(key);
    for (const key of new Set([...this.#statics.keys(), ...mirrors.keys()])) this.#look(key);
  }

  /** At one pod; at what is said of it meanwhile afterwards. */
  #look(key: string): void {
    if (this.#busy.has(key)) return void this.#missed.add(key);
    this.#busy.add(key);
    this.#see(key)
      .catch((error: Error) => {
        this.#options.log.warn(`mirror ${key}: ${error.message}`);
        return true;
      })
      .then((again) => {
        const done = () => {
          this.#busy.delete(key);
          if (this.#missed.delete(key) || again) this.#look(key);
        };
        if (again) this.#options.clock.after(retryMs, done);
        else done();
      });
  }

  /** Whether to look again although nothing may be heard. */
  async #see(key: string): Promise<boolean> {
    const pod = this.#statics.get(key);
    const mirror = this.#mirrors.get(key) ?? this.#unheard(key);
    if (!pod) {
      if (mirror) await this.#remove(mirror);
      return false;
    }
    const hash = pod.metadata.annotations?.[annotation.hash];
    if (mirror && mirror.metadata.annotations?.[annotation.mirror] === hash && !mirror.metadata.deletionTimestamp) return false;
    if (mirror) {
      await this.#remove(mirror);
      // Made anew when it is heard to be gone.
      return this.#made.delete(key);
    }
    return this.#make(key, pod, hash);
  }

  #unheard(key: string): Pod | undefined {
    const made = this.#made.get(key);
    return made && made.until > this.#options.clock.now() ? made.mirror : undefined;
  }

  async #make(key: string, {metadata, spec}: Pod, hash: string | undefined): Promise<boolean> {
    const {client, clock, node, nodeUid} = this.#options;
    const uid = nodeUid();
    if (!uid) return true;
    try {
      const mirror = await client.request<Pod>('POST', `/api/v1/namespaces/${metadata.namespace}/pods`, {
        body: {
          kind: 'Pod',
          apiVersion: 'v1',
          metadata: {
            name: metadata.name,
            namespace: metadata.namespace,
            labels: metadata.labels,
            annotations: {...metadata.annotations, [annotation.mirror]: hash},
            ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: node, uid, controller: true}],
          },
          spec,
        },
      });
      if (!this.#mirrors.has(key)) this.#made.set(key, {mirror, until: clock.now() + unheardMs});
      return false;
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) return true;
      throw error;
    }
  }

  async #remove({metadata}: Pod): Promise<boolean> {
    try {
      await this.#options.client.request('DELETE', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
        body: {kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: {uid: metadata.uid}},
      });
    } catch (error) {
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
    return false;
  }
}

const keyOf = ({metadata}: Pod): string => `${metadata.namespace}/${metadata.name}`;
