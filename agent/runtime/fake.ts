/**
 * A runtime that only remembers: what real ones do to containers it does to records, so that everything above can be tried without rights and
 * without waiting. Passes the same contract suite (contract-suite.ts).
 */
import {
  type Container,
  type ContainerConfig,
  type ContainerStats,
  type ContainerStatus,
  containerState,
  type ExecResult,
  type FilesystemUsage,
  type Image,
  type Labels,
  type LinuxResources,
  type RegistryAuth,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type RuntimeStatus,
  type RuntimeVersion,
  type Sandbox,
  type SandboxConfig,
  type SandboxStatus,
  sandboxReady,
} from './runtime.ts';

interface FakeContainer {
  container: Container;
  status: ContainerStatus;
  config: ContainerConfig;
}

/** What a container does when it is started; nothing: it runs until it is stopped. */
export type Behaviour = (config: ContainerConfig) => {exitCode: number; afterMs?: number} | undefined;

const sandboxNotReady = 1;
const killed = 137;

export class FakeRuntime implements Runtime {
  readonly sandboxConfigs = new Map<string, SandboxConfig>();
  /** Every call that changed something, in order. */
  readonly calls: string[] = [];
  /** Names that can be pulled, beside those that are there. */
  readonly registry = new Set<string>();
  behaviour: Behaviour = () => undefined;
  /** Throws in place of the call of this name. */
  fail: Partial<Record<keyof Runtime, RuntimeError>> = {};
  onExec: (id: string, command: readonly string[]) => ExecResult = () => ({
    stdout: new Uint8Array(),
    stderr: new Uint8Array(),
    exitCode: 0,
  });
  readonly #sandboxes = new Map<string, SandboxStatus>();
  readonly #containers = new Map<string, FakeContainer>();
  readonly #images = new Map<string, Image>();
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();
  #serial = 0;
  #addresses = 1;

  constructor(images: readonly string[] = []) {
    for (const name of images) this.#addImage(name);
  }

  async version(): Promise<RuntimeVersion> {
    return {runtimeName: 'fake', runtimeVersion: '1', runtimeApiVersion: 'v1'};
  }

  async status(): Promise<RuntimeStatus> {
    const ready = (type: string) => ({type, status: true, reason: '', message: ''});
    return {conditions: [ready('RuntimeReady'), ready('NetworkReady')], handlers: ['']};
  }

  async runSandbox(config: SandboxConfig): Promise<string> {
    this.#try('runSandbox', config.metadata.name);
    const {metadata, labels, annotations} = config;
    for (const sandbox of this.#sandboxes.values())
      if (sandbox.metadata.uid === metadata.uid && sandbox.metadata.attempt === metadata.attempt)
        throw new RuntimeError('failed', `failed to reserve sandbox name: ${metadata.name} is taken by ${sandbox.id}`);
    const id = this.#id();
    this.sandboxConfigs.set(id, config);
    this.#sandboxes.set(id, {
      id,
      metadata,
      state: sandboxReady,
      createdAt: this.#now(),
      labels,
      annotations,
      ips: [`10.9.0.${this.#addresses++}`],
    });
    return id;
  }

  async stopSandbox(id: string): Promise<void> {
    this.#try('stopSandbox', id);
    for (const {container} of this.#containers.values()) if (container.podSandboxId === id) this.#end(container.id, killed);
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) Object.assign(sandbox, {state: sandboxNotReady});
  }

  async removeSandbox(id: string): Promise<void> {
    this.#try('removeSandbox', id);
    this.#sandboxes.delete(id);
    for (const {container} of [...this.#containers.values()]) if (container.podSandboxId === id) this.#containers.delete(container.id);
  }

  async sandboxes(labels: Labels = {}): Promise<Sandbox[]> {
    return [...this.#sandboxes.values()].filter((sandbox) => matches(sandbox.labels, labels)).map((sandbox) => ({...sandbox}));
  }

  async sandboxStatus(id: string): Promise<SandboxStatus | undefined> {
    const found = this.#sandboxes.get(id);
    return found && {...found};
  }

  async createContainer(podSandboxId: string, config: ContainerConfig): Promise<string> {
    this.#try('createContainer', config.metadata.name);
    if (this.#sandboxes.get(podSandboxId)?.state !== sandboxReady)
      throw new RuntimeError('notFound', `sandbox ${podSandboxId} is not there`);
    const id = this.#id();
    const {metadata, image, labels, annotations} = config;
    const imageRef = this.#find(image.image)?.repoDigests[0] ?? '';
    const createdAt = this.#now();
    const container = {
      id,
      podSandboxId,
      metadata,
      image: {image: image.image},
      imageRef,
      state: containerState.created,
      createdAt,
      labels,
      annotations,
    };
    const status: ContainerStatus = {
      ...{id, metadata, createdAt, image: container.image, imageRef, labels, annotations},
      ...{state: containerState.created, startedAt: 0, finishedAt: 0, exitCode: 0, reason: '', message: '', logPath: config.logPath},
    };
    this.#containers.set(id, {container, status, config});
    return id;
  }

  async startContainer(id: string): Promise<void> {
    const found = this.#need(id);
    this.#try('startContainer', found.config.metadata.name);
    if (found.status.state !== containerState.created) throw new RuntimeError('failed', `container ${id} is not in created state`);
    this.#set(found, {state: containerState.running, startedAt: this.#now()});
    this.#tell({type: 'started', id});
    const outcome = this.behaviour(found.config);
    if (!outcome) return;
    if (outcome.afterMs === undefined) this.#end(id, outcome.exitCode);
    else setTimeout(() => this.#end(id, outcome.exitCode), outcome.afterMs);
  }

  async stopContainer(id: string, graceSeconds: number): Promise<void> {
    const found = this.#containers.get(id);
    if (!found) return;
    this.#try('stopContainer', found.config.metadata.name);
    this.#end(id, graceSeconds > 0 ? 0 : killed);
  }

  async removeContainer(id: string): Promise<void> {
    this.#containers.delete(id);
  }

  async containers(labels: Labels = {}): Promise<Container[]> {
    return [...this.#containers.values()].filter(({container}) => matches(container.labels, labels)).map(({container}) => ({...container}));
  }

  async containerStatus(id: string): Promise<ContainerStatus | undefined> {
    const found = this.#containers.get(id)?.status;
    return found && {...found};
  }

  async updateResources(id: string, resources: LinuxResources): Promise<void> {
    this.#try('updateResources', JSON.stringify(resources));
    this.#need(id);
  }

  async reopenLog(id: string): Promise<void> {
    this.#need(id);
  }

  async exec(id: string, command: readonly string[]): Promise<ExecResult> {
    this.#try('exec', command.join(' '));
    if (this.#need(id).status.state !== containerState.running) throw new RuntimeError('failed', `container ${id} is not running`);
    return this.onExec(id, command);
  }

  async execUrl(): Promise<string> {
    return 'http://127.0.0.1:1/exec';
  }

  async attachUrl(): Promise<string> {
    return 'http://127.0.0.1:1/attach';
  }

  async portForwardUrl(): Promise<string> {
    return 'http://127.0.0.1:1/portforward';
  }

  async images(): Promise<Image[]> {
    return [...this.#images.values()];
  }

  async image(reference: string): Promise<Image | undefined> {
    return this.#find(reference);
  }

  async pullImage(reference: string, auth?: RegistryAuth): Promise<string> {
    this.#try('pullImage', auth?.username ? `${reference} as ${auth.username}` : reference);
    if (!this.registry.has(reference))
      throw new RuntimeError('notFound', `failed to resolve reference ${JSON.stringify(reference)}: not found`);
    return this.#addImage(reference).repoDigests[0]!;
  }

  async removeImage(reference: string): Promise<void> {
    this.#try('removeImage', reference);
    const found = this.#find(reference);
    if (found) this.#images.delete(found.id);
  }

  async imageFilesystems(): Promise<FilesystemUsage[]> {
    return [];
  }

  async sandboxImage(): Promise<string> {
    return 'pause:1';
  }

  async containerStats(): Promise<ContainerStats[]> {
    return [];
  }

  watch(onEvent: (event: RuntimeEvent) => void, onLost: () => void): () => void {
    this.#listeners.add(onEvent);
    onLost();
    return () => this.#listeners.delete(onEvent);
  }

  close(): void {
    this.#listeners.clear();
  }

  /** The newest container of this name ends by itself. `silently`: nobody is told. */
  exit(name: string, exitCode: number, silently = false): void {
    const [found] = [...this.#containers.values()].filter(({config}) => config.metadata.name === name).reverse();
    if (found) this.#end(found.container.id, exitCode, silently);
  }

  /** Behind everybody's back. */
  loseSandbox(id: string): void {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) Object.assign(sandbox, {state: sandboxNotReady});
    for (const {container} of this.#containers.values()) if (container.podSandboxId === id) this.#end(container.id, killed, true);
  }

  configOf(name: string): ContainerConfig | undefined {
    return [...this.#containers.values()].reverse().find(({config}) => config.metadata.name === name)?.config;
  }

  #end(id: string, exitCode: number, silently = false): void {
    const found = this.#containers.get(id);
    if (!found || found.status.state === containerState.exited) return;
    this.#set(found, {state: containerState.exited, exitCode, finishedAt: this.#now(), reason: exitCode === 0 ? 'Completed' : 'Error'});
    if (!silently) this.#tell({type: 'exited', id});
  }

  #set(found: FakeContainer, change: Partial<ContainerStatus>): void {
    Object.assign(found.status, change);
    found.container.state = found.status.state;
  }

  #tell(event: RuntimeEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #try(name: keyof Runtime, detail: string): void {
    const error = this.fail[name];
    if (error) throw error;
    this.calls.push(`${name} ${detail}`);
  }

  #need(id: string): FakeContainer {
    const found = this.#containers.get(id);
    if (!found) throw new RuntimeError('notFound', `container ${id} is not there`);
    return found;
  }

  #find(reference: string): Image | undefined {
    return [...this.#images.values()].find(
      ({id, repoTags, repoDigests}) => id === reference || repoTags.includes(reference) || repoDigests.includes(reference),
    );
  }

  #addImage(name: string): Image {
    const id = `sha256:${this.#id()}`;
    const image: Image = {id, repoTags: [name], repoDigests: [`${name.split(':')[0]}@${id}`], size: 1000, username: '', pinned: false};
    this.#images.set(id, image);
    return image;
  }

  #id(): string {
    this.#serial += 1;
    return this.#serial.toString(16).padStart(64, '0');
  }

  /** Never the same twice, so that the order of things can be told. */
  #now(): number {
    this.#serial += 1;
    return Date.now() * 1e6 + this.#serial * 1000;
  }
}

const matches = (labels: Labels, wanted: Labels): boolean => Object.entries(wanted).every(([key, value]) => labels[key] === value);
