/** Each static pod has a mirror in the API, so that it is seen there: made where it is missing or of another pod, removed with its pod. */
import {isReason} from '../../shared/errors.ts';
import type {ApiClient} from '../api/client.ts';
import type {Log} from '../pods/context.ts';
import type {Mirrors} from '../pods/manager.ts';
import {annotation, type Pod} from '../pods/pod.ts';

export interface MirrorOptions {
  client: ApiClient;
  node: string;
  nodeUid(): string | undefined;
  log: Log;
}

const retryMs = 3000;

export class ApiMirrors implements Mirrors {
  readonly #options: MirrorOptions;
  readonly #busy = new Set<string>();
  #statics: readonly Pod[] = [];
  #mirrors: ReadonlyMap<string, Pod> = new Map();

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  update(statics: readonly Pod[], mirrors: ReadonlyMap<string, Pod>): void {
    this.#statics = statics;
    this.#mirrors = mirrors;
    const wanted = new Map(statics.map((pod) => [keyOf(pod), pod]));
    for (const [key, pod] of wanted) this.#run(key, () => this.#ensure(pod, mirrors.get(key)));
    for (const [key, mirror] of mirrors) if (!wanted.has(key)) this.#run(key, () => this.#remove(mirror));
  }

  #run(key: string, task: () => Promise<boolean>): void {
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    task()
      .catch((error: Error) => {
        this.#options.log.warn(`mirror ${key}: ${error.message}`);
        return true;
      })
      .then((again) => {
        const done = () => {
          this.#busy.delete(key);
          if (again) this.update(this.#statics, this.#mirrors);
        };
        if (again) setTimeout(done, retryMs).unref();
        else done();
      });
  }

  /** Whether to look again although nothing may be heard. */
  async #ensure(pod: Pod, mirror: Pod | undefined): Promise<boolean> {
    const hash = pod.metadata.annotations?.[annotation.hash];
    if (mirror && mirror.metadata.annotations?.[annotation.mirror] === hash && !mirror.metadata.deletionTimestamp) return false;
    if (mirror) {
      await this.#remove(mirror);
      return false;
    }
    const {client, node, nodeUid} = this.#options;
    const {metadata, spec} = pod;
    const uid = nodeUid();
    if (!uid) return true;
    try {
      await client.request('POST', `/api/v1/namespaces/${metadata.namespace}/pods`, {
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
