/**
 * The controllers of a cluster that has no process of its own. They are the ones that a server runs; but nobody calls them back here:
 * told what has changed they bring their caches up to date, do what there is to do, and are frozen until the next time.
 */
import {AggregationController} from '../../shared/controllers/bootstrap/aggregation.ts';
import {NamespaceContent} from '../../shared/controllers/bootstrap/namespace-content.ts';
import {FlowSchemaController} from '../../shared/controllers/flow-schemas.ts';
import type {OwnerIndex} from '../../shared/controllers/garbage/owner-index.ts';
import {type Noted, RungCollector} from '../../shared/controllers/garbage/rung.ts';
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
import {doors} from './doors.ts';
import {readEnvironment} from './environment.ts';
import {DynamoOwnerIndex} from './owner-index.ts';
import {Placing} from './placing.ts';
import type {Invocation} from './rest.ts';
import {amazonRoots} from './roots.ts';

/** Who depends on whom, without opening anything else. */
export async function ownerIndex(): Promise<OwnerIndex> {
  const {cluster, connectionsTable: table} = readEnvironment(doors.variables);
  if (table === undefined) throw new Error('the environment variable CLUSTERLESS_CONNECTIONS_TABLE is not set');
  return new DynamoOwnerIndex({calls: await doors.calls(), table, cluster, now: () => doors.clock.now()});
}

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
/** What is still being written then is decided by this long before the end. */
const decidedMs = 1_000;

export class RungControllers {
  readonly cluster: Cluster;
  /** Of who follows everything. */
  readonly garbage: GarbageCollector | undefined;
  readonly #rung: RungCollector;
  readonly #namespaces: NamespaceController;
  readonly #controllers: Controller[];
  readonly #placing: Placing;

  private constructor(cluster: Cluster, index: OwnerIndex, followsAll: boolean) {
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
    ];
    this.#rung = new RungCollector({client, catalogue, store, index});
    if (!followsAll) return;
    this.garbage = new GarbageCollector({...common, store});
    this.#controllers.push(this.garbage);
  }

  /** `followsAll`: it sees what depends on whom by reading everything, as maintenance does; who is rung is told. */
  static of(name: FunctionName, {followsAll}: {followsAll: boolean}): () => Promise<RungControllers> {
    const cluster = clusterOf(name, controllerParts);
    let opened: Promise<RungControllers> | undefined;
    const open = async (): Promise<RungControllers> => {
      const made = new RungControllers(await cluster.open(), await ownerIndex(), followsAll);
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

  /** Does what the changes of these types ask for, and what was noted of them. False when the invocation ended first: then it is to be rung again. */
  async react(types: readonly string[], {getRemainingTimeInMillis}: Invocation, noted?: Noted): Promise<boolean> {
    const {assembly, client} = this.cluster;
    const {clock} = assembly.machine;
    const abort = new AbortController();
    const remainingMs = getRemainingTimeInMillis?.();
    client.deadline = remainingMs === undefined ? undefined : clock.now() + remainingMs - decidedMs;
    const cancel = remainingMs === undefined ? () => {} : clock.after(Math.max(0, remainingMs - farewellMs), () => abort.abort());
    try {
      const settled = types.length > 0 ? await this.#followed(types, abort.signal) : [];
      if (noted) settled.push(await this.#rung.collect(noted, abort.signal));
      return !settled.includes(false);
    } finally {
      cancel();
    }
  }

  /** Whether each of those who follow some types is done with what these ask for. */
  async #followed(types: readonly string[], signal: AbortSignal): Promise<boolean[]> {
    const {store} = this.cluster.assembly.machine;
    // The question for the head of a type brings what is followed of it up to date.
    await store.begin?.({});
    for (const type of types) if (!isConfiguration(type)) await store.head(type);
    await this.#namespaces.lookAgain();
    // What one has done may give another something to do, once it has been heard of.
    const settled = [];
    for (let round = 0; round < 2; round++) {
      await store.begin?.({});
      for (const controller of this.#controllers) settled.push(await controller.settled(signal));
    }
    if (types.some(Placing.isRungBy)) settled.push(await this.#placing.react(signal));
    return settled;
  }
}
