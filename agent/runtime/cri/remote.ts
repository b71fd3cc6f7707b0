/** The runtime seam over the container runtime interface, version 1: one method here is one call there. */
import {isIP} from 'node:net';
import {
  type AttachStream,
  type Container,
  type ContainerConfig,
  type ContainerStats,
  type ContainerStatus,
  type ExecResult,
  type ExecStream,
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
} from '../runtime.ts';
import {Channel, type Method} from './channel.ts';
import {watchEvents} from './events.ts';
import {messages} from './messages.ts';

type Messages = typeof messages;

const method = (service: 'Runtime' | 'Image', name: string, request: keyof Messages, response: keyof Messages): Method => ({
  path: `/runtime.v1.${service}Service/${name}`,
  request: messages[request],
  response: messages[response],
});

const calls = {
  version: method('Runtime', 'Version', 'VersionRequest', 'VersionResponse'),
  status: method('Runtime', 'Status', 'StatusRequest', 'StatusResponse'),
  runSandbox: method('Runtime', 'RunPodSandbox', 'RunSandboxRequest', 'SandboxId'),
  stopSandbox: method('Runtime', 'StopPodSandbox', 'SandboxId', 'Empty'),
  removeSandbox: method('Runtime', 'RemovePodSandbox', 'SandboxId', 'Empty'),
  listSandboxes: method('Runtime', 'ListPodSandbox', 'ListRequest', 'SandboxList'),
  sandboxStatus: method('Runtime', 'PodSandboxStatus', 'SandboxId', 'SandboxStatusResponse'),
  createContainer: method('Runtime', 'CreateContainer', 'CreateContainerRequest', 'ContainerId'),
  startContainer: method('Runtime', 'StartContainer', 'ContainerId', 'Empty'),
  stopContainer: method('Runtime', 'StopContainer', 'StopContainerRequest', 'Empty'),
  removeContainer: method('Runtime', 'RemoveContainer', 'ContainerId', 'Empty'),
  listContainers: method('Runtime', 'ListContainers', 'ContainersRequest', 'ContainerList'),
  containerStatus: method('Runtime', 'ContainerStatus', 'ContainerId', 'ContainerStatusResponse'),
  updateResources: method('Runtime', 'UpdateContainerResources', 'UpdateResourcesRequest', 'Empty'),
  reopenLog: method('Runtime', 'ReopenContainerLog', 'ContainerId', 'Empty'),
  execSync: method('Runtime', 'ExecSync', 'ExecSyncRequest', 'ExecSyncResponse'),
  exec: method('Runtime', 'Exec', 'ExecRequest', 'Url'),
  attach: method('Runtime', 'Attach', 'AttachRequest', 'Url'),
  portForward: method('Runtime', 'PortForward', 'PortForwardRequest', 'Url'),
  stats: method('Runtime', 'ListContainerStats', 'StatsRequest', 'StatsList'),
  listImages: method('Image', 'ListImages', 'Empty', 'ImageList'),
  imageStatus: method('Image', 'ImageStatus', 'ImageRequest', 'ImageResponse'),
  pullImage: method('Image', 'PullImage', 'PullRequest', 'ImageRef'),
  removeImage: method('Image', 'RemoveImage', 'ImageRequest', 'Empty'),
  imageFsInfo: method('Image', 'ImageFsInfo', 'Empty', 'ImageFsInfo'),
} as const;

export interface RemoteOptions {
  endpoint: string;
  imageEndpoint?: string;
  /** Of every call but pulls, commands and stops, which take their own time on top. */
  requestTimeoutMs: number;
}

/** A stop that has used up its grace still has to kill and to clean up. */
const stopSlackMs = 60_000;

export class RemoteRuntime implements Runtime {
  readonly #runtime: Channel;
  readonly #images: Channel;
  readonly #timeoutMs: number;

  constructor({endpoint, imageEndpoint, requestTimeoutMs}: RemoteOptions) {
    this.#runtime = new Channel(endpoint);
    this.#images = imageEndpoint && imageEndpoint !== endpoint ? new Channel(imageEndpoint) : this.#runtime;
    this.#timeoutMs = requestTimeoutMs;
  }

  async version(): Promise<RuntimeVersion> {
    return (await this.#call(calls.version, {})) as unknown as RuntimeVersion;
  }

  async status(): Promise<RuntimeStatus> {
    const {status, runtimeHandlers} = (await this.#call(calls.status, {})) as {
      status?: {conditions: RuntimeStatus['conditions']};
      runtimeHandlers: {name: string}[];
    };
    return {conditions: status?.conditions ?? [], handlers: runtimeHandlers.map(({name}) => name)};
  }

  async runSandbox(config: SandboxConfig, runtimeHandler = ''): Promise<string> {
    return this.#id(await this.#call(calls.runSandbox, {config, runtimeHandler}), 'podSandboxId');
  }

  async stopSandbox(podSandboxId: string): Promise<void> {
    await absentAsUndefined(this.#call(calls.stopSandbox, {podSandboxId}));
  }

  async removeSandbox(podSandboxId: string): Promise<void> {
    await absentAsUndefined(this.#call(calls.removeSandbox, {podSandboxId}));
  }

  async sandboxes(labelSelector: Labels = {}): Promise<Sandbox[]> {
    return (await this.#call(calls.listSandboxes, {filter: {labelSelector}})).items as Sandbox[];
  }

  async sandboxStatus(podSandboxId: string): Promise<SandboxStatus | undefined> {
    const {status} = (await absentAsUndefined(this.#call(calls.sandboxStatus, {podSandboxId}))) ?? {};
    if (!status) return undefined;
    const {network, ...rest} = status as SandboxStatus & {network?: {ip: string; additionalIps: {ip: string}[]}};
    sameId(podSandboxId, (status as SandboxStatus).id);
    // They go into files of the pod and into its status: anything else there would be somebody's text.
    const ips = network ? [network.ip, ...network.additionalIps.map(({ip}) => ip)].filter((ip) => isIP(ip) > 0) : [];
    return {...rest, ips};
  }

  async createContainer(podSandboxId: string, config: ContainerConfig, sandboxConfig: SandboxConfig): Promise<string> {
    return this.#id(await this.#call(calls.createContainer, {podSandboxId, config, sandboxConfig}), 'containerId');
  }

  async startContainer(containerId: string): Promise<void> {
    await this.#call(calls.startContainer, {containerId});
  }

  async stopContainer(containerId: string, graceSeconds: number): Promise<void> {
    const timeout = Math.max(0, Math.ceil(graceSeconds));
    await absentAsUndefined(this.#runtime.call(calls.stopContainer, {containerId, timeout}, timeout * 1000 + stopSlackMs));
  }

  async removeContainer(containerId: string): Promise<void> {
    await absentAsUndefined(this.#call(calls.removeContainer, {containerId}));
  }

  async containers(labelSelector: Labels = {}): Promise<Container[]> {
    return (await this.#call(calls.listContainers, {filter: {labelSelector}})).containers as Container[];
  }

  async containerStatus(containerId: string): Promise<ContainerStatus | undefined> {
    const {status} = (await absentAsUndefined(this.#call(calls.containerStatus, {containerId}))) ?? {};
    if (status) sameId(containerId, (status as ContainerStatus).id);
    return status as ContainerStatus | undefined;
  }

  async updateResources(containerId: string, linux: LinuxResources): Promise<void> {
    await this.#call(calls.updateResources, {containerId, linux});
  }

  async reopenLog(containerId: string): Promise<void> {
    await this.#call(calls.reopenLog, {containerId});
  }

  async exec(containerId: string, cmd: readonly string[], timeoutSeconds: number): Promise<ExecResult> {
    const answer = this.#runtime.call(
      calls.execSync,
      {containerId, cmd, timeout: timeoutSeconds},
      timeoutSeconds > 0 ? timeoutSeconds * 1000 + this.#timeoutMs : undefined,
    );
    return (await answer) as unknown as ExecResult;
  }

  async execUrl(request: ExecStream): Promise<string> {
    return this.#id(await this.#call(calls.exec, request), 'url');
  }

  async attachUrl(request: AttachStream): Promise<string> {
    return this.#id(await this.#call(calls.attach, request), 'url');
  }

  async portForwardUrl(podSandboxId: string, port: readonly number[]): Promise<string> {
    return this.#id(await this.#call(calls.portForward, {podSandboxId, port}), 'url');
  }

  async images(): Promise<Image[]> {
    return (await this.#images.call(calls.listImages, {}, this.#timeoutMs)).images as Image[];
  }

  async image(image: string): Promise<Image | undefined> {
    const answer = await absentAsUndefined(this.#images.call(calls.imageStatus, {image: {image}}, this.#timeoutMs));
    return answer?.image as Image | undefined;
  }

  async pullImage(image: string, auth?: RegistryAuth, sandboxConfig?: SandboxConfig): Promise<string> {
    const answer = await this.#images.call(calls.pullImage, {image: {image}, auth, sandboxConfig});
    return this.#id(answer, 'imageRef');
  }

  async removeImage(image: string): Promise<void> {
    await absentAsUndefined(this.#images.call(calls.removeImage, {image: {image}}, this.#timeoutMs));
  }

  async imageFilesystems(): Promise<FilesystemUsage[]> {
    return (await this.#images.call(calls.imageFsInfo, {}, this.#timeoutMs)).imageFilesystems as FilesystemUsage[];
  }

  /** In no message of its own: both containerd and CRI-O put it into what they say of themselves when asked at length. */
  async sandboxImage(): Promise<string> {
    const {info} = (await this.#call(calls.status, {verbose: true})) as {info: Record<string, string>};
    try {
      const config = JSON.parse(info.config ?? '{}');
      const found = config.sandboxImage ?? config.pinnedImages?.sandbox ?? config.pauseImage ?? '';
      return typeof found === 'string' ? found : '';
    } catch {
      return '';
    }
  }

  async containerStats(labelSelector: Labels = {}): Promise<ContainerStats[]> {
    return (await this.#call(calls.stats, {filter: {labelSelector}})).stats as ContainerStats[];
  }

  watch(onEvent: (event: RuntimeEvent) => void, onLost: () => void): () => void {
    return watchEvents(this.#runtime, onEvent, onLost);
  }

  close(): void {
    this.#runtime.close();
    if (this.#images !== this.#runtime) this.#images.close();
  }

  #call(call: Method, request: object): Promise<Record<string, unknown>> {
    return this.#runtime.call(call, request, this.#timeoutMs);
  }

  /** An empty id would name everything in the next call. */
  #id(answer: Record<string, unknown>, field: string): string {
    const id = answer[field];
    if (typeof id !== 'string' || id === '') throw new RuntimeError('failed', `the runtime answered without ${field}`);
    return id;
  }
}

/** @throws RuntimeError for an answer about something else */
function sameId(asked: string, answered: string): void {
  if (asked !== answered)
    throw new RuntimeError('failed', `the runtime was asked about ${asked} and answered about ${JSON.stringify(answered)}`);
}

async function absentAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'notFound') return undefined;
    throw error;
  }
}
