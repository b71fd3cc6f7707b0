/** How the node is: what it has and can give, whether its runtime answers, its addresses; looked at in a rhythm, told when it changes. */
import type {Clock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import {ageMs} from '../age.ts';
import type {Settings} from '../cli/settings.ts';
import type {Log} from '../pods/context.ts';
import type {Resources} from '../pods/pod.ts';
import {bytesOf} from '../pods/resources.ts';
import type {Image, Runtime, RuntimeVersion} from '../runtime/runtime.ts';
import {type Cloud, openCloud} from './cloud.ts';
import {availableMemory, type Disk, defaultAddresses, diskOf, type Machine, readMachine} from './machine.ts';
import {allocatableOf, capacityOf, type NodeSpecFacts, nodeStatus} from './node-object.ts';

export interface NodeStateOptions {
  settings: Settings;
  runtime: Runtime;
  clock: Clock;
  rootDir: string;
  version: string;
  log: Log;
}

const lookEveryMs = 10_000;
/** The list is long, and nobody waits for it. */
const imagesEveryMs = 60_000;
const addressesEveryMs = 300_000;

export class NodeState {
  readonly name: string;
  readonly #options: NodeStateOptions;
  readonly #machine: Machine;
  readonly #cloud: Cloud;
  #addressesAt: number;
  #hostIps: string[];
  #disk: Disk;
  #runtime: RuntimeVersion | undefined;
  #notReady: string | undefined = 'container runtime status check may not have completed yet';
  #memoryPressure = false;
  #images: Image[] = [];
  #imagesAt = 0;
  #node: KubeObject | undefined;
  #changed = () => {};
  #cancel = () => {};
  readonly startedAt: number;

  static async open(options: NodeStateOptions): Promise<NodeState> {
    const [machine, disk, addresses, cloud] = await Promise.all([
      readMachine(),
      diskOf(options.rootDir),
      defaultAddresses(),
      openCloud(options.settings, options.clock),
    ]);
    const given = options.settings
      .text('node-ip')
      .split(',')
      .filter((ip) => ip && ip !== '0.0.0.0' && ip !== '::');
    const own = cloud.addresses?.find(({type}) => type === 'InternalIP')?.address;
    return new NodeState(options, machine, disk, given.length > 0 ? given : own ? [own] : addresses, cloud);
  }

  private constructor(options: NodeStateOptions, machine: Machine, disk: Disk, hostIps: string[], cloud: Cloud) {
    this.#options = options;
    this.#machine = machine;
    this.#disk = disk;
    this.#hostIps = hostIps;
    this.#cloud = cloud;
    this.name = options.settings.text('hostname-override').trim().toLowerCase() || cloud.name || machine.hostname;
    this.startedAt = options.clock.now();
    this.#addressesAt = this.startedAt;
  }

  get hostIps(): readonly string[] {
    return this.#hostIps;
  }

  get memoryBytes(): number {
    return this.#machine.memoryBytes;
  }

  get cpus(): number {
    return this.#machine.cpus;
  }

  get runtimeName(): string {
    return this.#runtime?.runtimeName ?? 'containerd';
  }

  get isReady(): boolean {
    return this.#notReady === undefined;
  }

  get labels(): Record<string, string> {
    return this.#node?.metadata.labels ?? this.nodeSpec().labels;
  }

  get allocatable(): Resources {
    return allocatableOf(this.#facts());
  }

  get capacity(): Resources {
    return capacityOf(this.#facts());
  }

  get disk(): Disk {
    return this.#disk;
  }

  seen(node: KubeObject): void {
    this.#node = node;
  }

  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  stop(): void {
    this.#cancel();
  }

  /** Now, and from now on in a rhythm. */
  async look(): Promise<void> {
    const {runtime, clock, rootDir, log} = this.#options;
    const before = this.#notReady;
    this.#cancel();
    try {
      this.#runtime ??= await runtime.version();
      const {conditions} = await runtime.status();
      const failing = conditions.filter(({type, status}) => !status && (type === 'RuntimeReady' || type === 'NetworkReady'));
      this.#notReady = failing.length > 0 ? failing.map(wordsOfCondition).join(' ') : undefined;
      if (ageMs(this.#imagesAt, clock.now()) > imagesEveryMs) {
        this.#images = await runtime.images();
        this.#imagesAt = clock.now();
      }
    } catch (error) {
      this.#notReady = `container runtime is down: ${(error as Error).message}`;
    }
    await this.#refreshAddresses();
    this.#disk = await diskOf(rootDir).catch(() => this.#disk);
    this.#memoryPressure = (await availableMemory().catch(() => Number.POSITIVE_INFINITY)) < bytesOf(this.#evictionReserve().memory ?? '0');
    if (before !== this.#notReady) {
      log.info(this.#notReady ? `not ready: ${this.#notReady}` : 'the container runtime is ready');
      this.#changed();
    }
    this.#cancel();
    this.#cancel = clock.after(lookEveryMs, () => void this.look());
  }

  async #refreshAddresses(): Promise<void> {
    const {clock, log} = this.#options;
    if (clock.now() - this.#addressesAt < addressesEveryMs) return;
    this.#addressesAt = clock.now();
    await this.#cloud.refresh().catch((error) => log.warn(`addresses stay as they are: ${(error as Error).message}`));
  }

  #addresses(previous: KubeObject['status']): {type: string; address: string}[] {
    const {addresses, keepsAddresses} = this.#cloud;
    if (keepsAddresses && previous?.addresses?.length > 0) return previous!.addresses;
    const own = addresses ?? this.#hostIps.map((address) => ({type: 'InternalIP', address}));
    return own.some(({type}) => type === 'Hostname') ? own : [...own, {type: 'Hostname', address: this.name}];
  }

  async status(previous: KubeObject['status']): Promise<Record<string, unknown>> {
    const known = previous ?? this.#node?.status;
    return nodeStatus({...this.#facts(), addresses: this.#addresses(known), previous: known});
  }

  nodeSpec(): NodeSpecFacts {
    const {settings} = this.#options;
    return {
      name: this.name,
      labels: {...this.#cloud.labels, ...Object.fromEntries(settings.map('node-labels'))},
      annotations: this.#cloud.annotations,
      taints: [...settings.list('register-with-taints').map(taintOf), ...this.#cloud.taints],
      unschedulable: !settings.bool('register-schedulable'),
      providerId: settings.text('provider-id') || this.#cloud.providerId,
      architecture: this.#machine.architecture,
      controllerAttach: settings.bool('enable-controller-attach-detach'),
    };
  }

  #facts() {
    const {settings, version, clock} = this.#options;
    const perCore = settings.number('pods-per-core');
    const most = settings.number('max-pods');
    return {
      name: this.name,
      machine: this.#machine,
      diskBytes: this.#disk.totalBytes,
      addresses: this.#addresses(undefined),
      maxPods: perCore > 0 ? Math.min(this.#machine.cpus * perCore, most) : most,
      reserved: [Object.fromEntries(settings.map('cluster-reserved')), Object.fromEntries(settings.map('system-reserved'))],
      evictionReserve: settings.bool('experimental-allocatable-ignore-eviction') ? {} : this.#evictionReserve(),
      port: settings.bool('enable-server') ? settings.number('port') : 0,
      runtime: this.#runtime,
      agentVersion: `v${version}`,
      images: this.#images,
      maxImages: settings.number('node-status-max-images'),
      notReady: this.#notReady,
      pressure: {memory: this.#memoryPressure, disk: this.#diskPressure(), pids: false},
      now: clock.now(),
    };
  }

  /** Thresholds are amounts, or shares of what there is. */
  #evictionReserve(): Resources {
    const hard = this.#options.settings.map('eviction-hard');
    const amount = (text: string | undefined, whole: number) =>
      text === undefined ? undefined : text.endsWith('%') ? String(Math.floor((whole * Number.parseFloat(text)) / 100)) : text;
    const memory = amount(hard.get('memory.available'), this.#machine.memoryBytes);
    const disk = amount(hard.get('nodefs.available'), this.#disk.totalBytes);
    return {...(memory && {memory}), ...(disk && {'ephemeral-storage': disk})};
  }

  #diskPressure(): boolean {
    const reserve = this.#evictionReserve()['ephemeral-storage'];
    return reserve !== undefined && this.#disk.availableBytes < bytesOf(reserve);
  }
}

const wordsOfCondition = ({type, reason, message}: {type: string; reason: string; message: string}): string =>
  `container runtime ${type === 'NetworkReady' ? 'network' : 'status'} not ready: ${type}=false reason:${reason} message:${message}`;

/** `key=value:effect`, the value may be missing. */
function taintOf(text: string): {key: string; value?: string; effect: string} {
  const colon = text.lastIndexOf(':');
  const [key, value] = text.slice(0, colon).split('=');
  return {key: key!, ...(value && {value}), effect: text.slice(colon + 1)};
}
