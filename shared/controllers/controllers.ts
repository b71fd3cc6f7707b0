/** Starts what runs beside requests, in order, and knows how far it is: health asks here. */
import type {ApiOptions} from '../api.ts';
import type {Assembly} from '../assemble.ts';
import type {Client} from '../client/client.ts';
import type {HealthState} from '../http/health.ts';
import {Binder} from './binder/binder.ts';
import {NodeSilence} from './binder/node-silence.ts';
import {NodeTaints} from './binder/node-taints.ts';
import {bootstrap} from './bootstrap/bootstrap.ts';
import {FigureRegistration} from './figures.ts';
import {FlowSchemaController} from './flow-schemas.ts';
import {ConfigurationFollower} from './follower.ts';
import {GarbageCollector} from './garbage-collector.ts';
import {NamespaceController} from './namespaces.ts';
import {Retention} from './retention.ts';
import {ServiceRepair} from './service-repair.ts';

const defaultHistoryMs = 3_600_000;

export class Controllers {
  readonly #options: Assembly & {client: Client; options: ApiOptions};
  readonly #namespaces: NamespaceController;
  readonly #flows: FlowSchemaController;
  readonly #figures: FigureRegistration;
  readonly #garbage: GarbageCollector;
  readonly #retention: Retention;
  readonly #repair: ServiceRepair;
  readonly #follower: ConfigurationFollower;
  /** Until a scheduler and a node lifecycle controller come. */
  readonly #placing: readonly (Binder | NodeSilence | NodeTaints)[];
  readonly #startedAt: number;
  #stopBootstrap: (() => Promise<void>) | undefined;
  #started = false;
  #draining = false;
  #stopped = false;

  constructor(options: Assembly & {client: Client; options: ApiOptions}) {
    this.#options = options;
    const {machine, client, log} = options;
    const common = {client, catalogue: machine.catalogue, caches: machine.caches, creators: machine.creators, clock: machine.clock, log};
    this.#namespaces = new NamespaceController(common);
    this.#flows = new FlowSchemaController(common);
    this.#figures = new FigureRegistration(common);
    this.#garbage = new GarbageCollector({...common, store: machine.store});
    this.#retention = new Retention({
      store: machine.store,
      client,
      clock: machine.clock,
      log,
      historyMs: options.options.watchHistoryMs ?? defaultHistoryMs,
    });
    this.#repair = new ServiceRepair({allocator: machine.allocator, caches: machine.caches, clock: machine.clock, log});
    this.#follower = new ConfigurationFollower(machine);
    this.#placing = options.options.binder ? [new NodeSilence(common), new NodeTaints(common), new Binder(common)] : [];
    this.#startedAt = machine.clock.now();
  }

  readonly state = (): HealthState => ({
    started: this.#started,
    draining: this.#draining,
    storeFailing: this.#stopped ? 'the store is closed' : undefined,
    withinGrace: this.#options.machine.clock.now() - this.#startedAt < (this.#options.options.livezGracePeriodMs ?? 0),
  });

  async start(): Promise<void> {
    const {machine, client, options} = this.#options;
    await this.#options.warmUp();
    this.#stopBootstrap = await bootstrap({client, machine, options});
    await this.#namespaces.start();
    await this.#flows.start();
    await this.#figures.start();
    // Stopped before it had begun: nobody would stop what begins now.
    if (this.#stopped) return this.stop();
    this.#retention.start();
    this.#repair.start();
    this.#follower.start();
    this.#started = true;
    for (const each of this.#placing)
      void each.start().catch((error: unknown) => this.#options.log.error({error: String(error)}, 'binder did not start'));
    // Its graph spans all types: reading them is not worth waiting for. A deletion before it is done is seen when it is.
    void this.#garbage
      .start()
      .catch((error: unknown) => this.#options.log.error({error: String(error)}, 'garbage collector did not start'));
  }

  drain(): void {
    this.#draining = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#follower.stop();
    await Promise.all([
      this.#namespaces.stop(),
      this.#flows.stop(),
      this.#figures.stop(),
      this.#garbage.stop(),
      this.#retention.stop(),
      this.#repair.stop(),
      ...this.#placing.map((each) => each.stop()),
      this.#stopBootstrap?.(),
    ]);
  }
}
