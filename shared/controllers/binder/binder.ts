/**
 * A minimal binder: gives pods that wait for the default scheduler a node, until the real scheduler comes, to whom it steps back. It hears
 * of changes and asks for nothing; while a cluster has no node it does not even look at pods. It never evicts, and leaves alone what it
 * cannot judge (beyond.ts). Several over one store may give away the same room at the same moment: then the node refuses a pod.
 */
import type {Log} from '../../api.ts';
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Client} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import type {KubeObject} from '../../object.ts';
import {matchesTerms} from '../../selector/node-selector.ts';
import {Queue} from '../queue.ts';
import {beyondBinder, Claims} from './beyond.ts';
import {choose, unavailable} from './choose.ts';
import {Leader} from './leader.ts';
import {Reports} from './reports.ts';
import {Rooms} from './room.ts';
import {type Demand, demandOf, keptOfNodes, keptOfPods, type NodeView, nodeView, type Placement} from './subjects.ts';

export interface BinderOptions {
  client: Client;
  caches: ObjectCaches;
  clock: Clock;
  log: Log;
}

interface Waiting {
  /** As it is now. */
  pod: KubeObject;
  readonly demand: Demand;
  /** It was looked at, and nothing fitted. */
  refused: boolean;
}

/** Writes of a durable store go together when there are many. */
const parallelBindings = 32;

/** In the queue: all that were refused. Many changes at a time ask for it once. */
const all = '';

export class Binder {
  readonly #options: BinderOptions;
  readonly #queue: Queue;
  readonly #reports: Reports;
  readonly #claims: Claims;
  readonly #real: Leader;
  readonly #nodes = new Map<string, NodeView>();
  readonly #rooms = new Rooms();
  readonly #waiting = new Map<string, Waiting>();
  #pods: Promise<void> | undefined;

  constructor(options: BinderOptions) {
    const {caches, clock, log} = options;
    this.#options = options;
    this.#queue = new Queue(clock, log, 'binder', (key) => this.#settle(key), parallelBindings);
    this.#reports = new Reports(options);
    this.#claims = new Claims(caches, () => this.#roomChanged());
    this.#real = new Leader({name: 'kube-scheduler', caches, clock, changed: (isThere) => this.#realChanged(isThere)});
  }

  async start(): Promise<void> {
    (await this.#options.caches.projected('nodes', 'binder', keptOfNodes)).onChange((name, node) => this.#nodeChanged(name, node));
    await this.#pods;
  }

  /** See Queue. */
  async settled(signal: AbortSignal): Promise<boolean> {
    await this.#pods;
    const done = await this.#queue.settled(signal);
    await this.#reports.settled();
    return done;
  }

  async stop(): Promise<void> {
    this.#real.stop();
    await this.#queue.stop();
    await this.#reports.settled();
  }

  /** At all that wait, for whoever is not called back in time. */
  lookAgain(): void {
    for (const key of this.#inOrder(() => true)) this.#queue.add(key);
  }

  #nodeChanged(name: string, node: KubeObject | undefined): void {
    const view = node && nodeView(node);
    if (sameJson(view, this.#nodes.get(name))) return;
    if (view) this.#nodes.set(name, view);
    else this.#nodes.delete(name);
    this.#pods ??= this.#follow().catch((error: unknown) => {
      this.#pods = undefined;
      this.#options.log.warn({error: String(error)}, 'pods will be looked at with the next change of a node');
    });
    this.#roomChanged();
  }

  async #follow(): Promise<void> {
    await this.#real.start();
    (await this.#options.caches.projected('pods', 'binder', keptOfPods)).onChange((key, pod, old) => this.#podChanged(key, pod, old));
  }

  #podChanged(key: string, pod: KubeObject | undefined, old: KubeObject | undefined): void {
    const placement: Placement | undefined = pod?.['placement'];
    const before: Placement | undefined = old?.['placement'];
    // One that waits may hold the room that it is about to get.
    if (placement || before || !pod) this.#rooms.set(key, placement);
    const waiting = this.#waiting.get(key);
    if (waiting && (placement || waiting.pod.metadata.uid !== pod?.metadata.uid)) this.#reports.forget(waiting.pod.metadata.uid!);
    if (!pod || placement) this.#waiting.delete(key);
    else if (waiting && waiting.pod.metadata.uid === pod.metadata.uid && sameJson(waiting.pod['spec'], pod['spec'])) {
      // What we wrote ourselves comes back: that alone is no reason to look again.
      waiting.pod = pod;
    } else {
      this.#waiting.set(key, {pod, demand: demandOf(pod), refused: false});
      this.#queue.add(key);
    }
    if (before && (!placement || !sameJson(before, placement))) this.#roomChanged();
  }

  #realChanged(isThere: boolean): void {
    this.#options.log.info({}, isThere ? 'a scheduler is at work: the binder steps back' : 'no scheduler is at work: the binder binds');
    if (!isThere) this.lookAgain();
  }

  /** There may be room for those that found none. */
  #roomChanged(): void {
    if (this.#real.isThere) return;
    this.#queue.add(all);
  }

  /** The more important first, then who has waited longer. */
  #inOrder(of: (waiting: Waiting) => boolean): string[] {
    const priority = ({pod}: Waiting): number => pod['spec'].priority ?? 0;
    const since = ({pod}: Waiting): string => pod.metadata.creationTimestamp ?? '';
    return [...this.#waiting]
      .filter(([, waiting]) => of(waiting))
      .sort(([, a], [, b]) => priority(b) - priority(a) || (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : 0))
      .map(([key]) => key);
  }

  async #settle(key: string): Promise<undefined> {
    if (key === all) {
      for (const each of this.#inOrder(({refused}) => refused)) this.#queue.add(each);
      return;
    }
    const asked = this.#waiting.get(key);
    const beyond = asked && !this.#real.isThere ? (beyondBinder(asked.pod) ?? (await this.#claims.of(asked.pod))) : undefined;
    // What it asks for may have changed meanwhile: then it is in the queue again.
    if (!asked || beyond === undefined || this.#waiting.get(key) !== asked || this.#real.isThere) return;
    const {pod, demand} = asked;
    const wait = typeof beyond === 'string' ? beyond : 'wait' in beyond ? beyond.wait : undefined;
    const where = typeof beyond === 'object' && 'where' in beyond ? beyond.where : [];
    const choice =
      wait === undefined
        ? choose(
            demand,
            this.#nodes.values(),
            (node) => this.#rooms.on(node),
            (node) => where.every((terms) => matchesTerms(terms, node)),
          )
        : {refusal: unavailable(this.#nodes.size, wait)};
    if ('refusal' in choice) {
      asked.refused = true;
      return void (await this.#reports.refused(pod, choice.refusal));
    }
    await this.#bind(key, asked, choice.node);
  }

  /** Its room is taken before the API is asked: the next pod must not be given it. */
  async #bind(key: string, waiting: Waiting, node: string): Promise<void> {
    const {pod, demand} = waiting;
    const {name, namespace, uid} = pod.metadata;
    const placement: Placement = {node, requests: demand.requests, weight: demand.weight, ports: demand.ports};
    this.#rooms.set(key, placement);
    try {
      await this.#options.client.create(
        {groupVersion: 'v1', resource: `pods/${name}/binding`, namespace},
        {kind: 'Binding', apiVersion: 'v1', metadata: {name, namespace, uid}, target: {kind: 'Node', name: node}},
      );
    } catch (error) {
      if (this.#rooms.holds(key, placement)) this.#rooms.set(key, undefined);
      // Bound by somebody else, changed or gone: we hear of it, if we have not.
      if (isReason(error, 'NotFound') || (isReason(error, 'Conflict') && this.#waiting.get(key) !== waiting)) return;
      throw error;
    }
    this.#reports.assigned(pod, node);
  }
}
