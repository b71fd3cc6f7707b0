/**
 * The controllers of a cluster that has no process of its own. They are the ones that a server runs; but nobody calls them back here:
 * told what has changed they bring their caches up to date, do what there is to do, and are frozen until the next time.
 */
import {AggregationController} from '../../shared/controllers/bootstrap/aggregation.ts';
import {NamespaceContent} from '../../shared/controllers/bootstrap/namespace-content.ts';
import {FlowSchemaController} from '../../shared/controllers/flow-schemas.ts';
import {GarbageCollector} from '../../shared/controllers/garbage-collector.ts';
import {NamespaceController} from '../../shared/controllers/namespaces.ts';
import {creating} from '../../shared/registry/served/create.ts';
import {deleting} from '../../shared/registry/served/delete.ts';
import {getting} from '../../shared/registry/served/get.ts';
import {listing} from '../../shared/registry/served/list.ts';
import {patching} from '../../shared/registry/served/patch.ts';
import {updating} from '../../shared/registry/served/update.ts';
import {writing} from '../../shared/registry/served/writing.ts';
import {isConfiguration} from '../../shared/storage/configuration.ts';
import type {FunctionName} from '../functions.ts';
import {type Cluster, clusterOf} from './cluster.ts';
import {Placing} from './placing.ts';
import type {Invocation} from './rest.ts';
import {amazonRoots} from './roots.ts';

/** What controllers ask of the API. */
export const controllerParts = () => ({
  handlers: {...getting, ...listing, ...creating, ...updating, ...patching, ...deleting},
  ...writing,
});

interface Controller {
  start(): Promise<void>;
  settled(signal: AbortSignal): Promise<boolean>;
}

/** For the answer, and for what is under way. */
const farewellMs = 15_000;

export class RungControllers {
  readonly cluster: Cluster;
  readonly #namespaces: NamespaceController;
  readonly #controllers: Controller[];
  readonly #placing: Placing;

  private constructor(cluster: Cluster) {
    const {client, assembly, options} = cluster;
    const {store, catalogue, caches, creators, clock} = assembly.machine;
    const common = {client, catalogue, caches, creators, clock, log: assembly.log, caCertificate: options.caCertificate ?? amazonRoots()};
    this.cluster = cluster;
    this.#namespaces = new NamespaceController(common);
    this.#placing = new Placing({...common, store});
    this.#controllers = [
      new NamespaceContent(common),
      new AggregationController(common),
      new FlowSchemaController(common),
      this.#namespaces,
      new GarbageCollector({...common, store}),
    ];
  }

  static of(name: FunctionName): () => Promise<RungControllers> {
    const cluster = clusterOf(name, controllerParts);
    let opened: Promise<RungControllers> | undefined;
    const open = async (): Promise<RungControllers> => {
      const made = new RungControllers(await cluster.open());
      for (const controller of made.#controllers) await controller.start();
      return made;
    };
    return () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
  }

  /** Does what the changes of these types ask for. False when the invocation ended first: then it is to be rung again. */
  async react(types: readonly string[], {getRemainingTimeInMillis}: Invocation): Promise<boolean> {
    const {store, clock} = this.cluster.assembly.machine;
    // The question for the head of a type brings what is followed of it up to date.
    await store.begin?.({});
    for (const type of types) if (!isConfiguration(type)) await store.head(type);
    await this.#namespaces.lookAgain();
    const abort = new AbortController();
    const remainingMs = getRemainingTimeInMillis?.();
    const cancel = remainingMs === undefined ? () => {} : clock.after(Math.max(0, remainingMs - farewellMs), () => abort.abort());
    try {
      // What one has done may give another something to do, once it has been heard of.
      const settled = [];
      for (let round = 0; round < 2; round++) {
        await store.begin?.({});
        for (const controller of this.#controllers) settled.push(await controller.settled(abort.signal));
      }
      if (types.some(Placing.isRungBy)) settled.push(await this.#placing.react(abort.signal));
      return !settled.includes(false);
    } finally {
      cancel();
    }
  }
}
