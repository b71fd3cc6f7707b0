/**
 * The first node brings what metrics-server's installation does: the registration of metrics.k8s.io, and the role by which whoever may
 * view may see figures. Until then there is nothing to measure, and a cluster is as the reference is on its own.
 */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Client} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {ensureAll} from './bootstrap/bootstrap.ts';
import {figuresOfNodes} from './bootstrap/desired.ts';
import {Queue} from './queue.ts';

const once = 'first node';

export class FigureRegistration {
  readonly #caches: ObjectCaches;
  readonly #queue: Queue;
  #due = true;

  constructor({client, caches, clock, log}: {client: Client; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#caches = caches;
    this.#queue = new Queue(clock, log, 'figures of nodes', async () => {
      await ensureAll(client, figuresOfNodes(), clock.now());
      this.#due = false;
      return undefined;
    });
  }

  async start(): Promise<void> {
    // That there is one is all.
    const nodes = await this.#caches.projected('nodes', 'names', (name) => ({kind: 'Node', apiVersion: 'v1', metadata: {name}}));
    nodes.onChange((_name, node) => {
      if (node && this.#due) this.#queue.add(once);
    });
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }
}
