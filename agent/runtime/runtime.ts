/**
 * What the agent asks of a container runtime. The words are the container runtime interface's, in camel case; an adapter translates (see cri/),
 * a fake stands in (fake.ts), and both pass contract-suite.ts. Times are nanoseconds since the epoch, as numbers: the last 256 ns are lost.
 */

export interface Runtime {
  version(): Promise<RuntimeVersion>;
  status(): Promise<RuntimeStatus>;

  /** Resolves with the sandbox's id. @throws RuntimeError */
  runSandbox(config: SandboxConfig, handler?: string): Promise<string>;
  /** Ends what runs in it and frees its network; again is no error. */
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;
  sandboxes(labels?: Labels): Promise<Sandbox[]>;
  /** Undefined when there is none. */
  sandboxStatus(id: string): Promise<SandboxStatus | undefined>;

  createContainer(sandboxId: string, config: ContainerConfig, sandbox: SandboxConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  /** Its stop signal now, KILL after `graceSeconds`; resolves when it has ended. A second call with less grace shortens the first. */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  containers(labels?: Labels): Promise<Container[]>;
  containerStatus(id: string): Promise<ContainerStatus | undefined>;
  updateResources(id: string, resources: LinuxResources): Promise<void>;
  reopenLog(id: string): Promise<void>;
  /** @throws RuntimeError with code `timeout` when the command did not end in time */
  exec(id: string, command: readonly string[], timeoutSeconds: number): Promise<ExecResult>;

  /** Addresses of the runtime's own streaming server, good for one connection each. */
  execUrl(request: ExecStream): Promise<string>;
  attachUrl(request: AttachStream): Promise<string>;
  portForwardUrl(sandboxId: string, ports: readonly number[]): Promise<string>;

  images(): Promise<Image[]>;
  image(reference: string): Promise<Image | undefined>;
  /** Resolves with the reference by digest. */
  pullImage(reference: string, auth?: RegistryAuth, sandbox?: SandboxConfig): Promise<string>;
  /** All names of the image go with it. */
  removeImage(reference: string): Promise<void>;
  imageFilesystems(): Promise<FilesystemUsage[]>;
  /** What sandboxes are made of; '' where the runtime does not say. */
  sandboxImage(): Promise<string>;
  containerStats(labels?: Labels): Promise<ContainerStats[]>;

  /**
   * Tells of changes as they happen, until the returned function is called. `onLost` says that events may have been missed, now or at the
   * start: the listener should list. Where the runtime has no events `onLost` is called again and again.
   */
  watch(onEvent: (event: RuntimeEvent) => void, onLost: () => void): () => void;
  close(): void;
}

export type Labels = Readonly<Record<string, string>>;

export type RuntimeErrorCode = 'notFound' | 'timeout' | 'unavailable' | 'invalid' | 'unsupported' | 'failed';

/** The message is the runtime's own. */
export class RuntimeError extends Error {
  readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface RuntimeVersion {
  runtimeName: string;
  runtimeVersion: string;
  runtimeApiVersion: string;
}

export interface RuntimeStatus {
  conditions: {type: string; status: boolean; reason: string; message: string}[];
  handlers: string[];
}

/** `id` is a container's, or a sandbox's whose process ended. */
export interface RuntimeEvent {
  type: 'started' | 'exited' | 'oom' | 'removed';
  id: string;
}

export interface SandboxMetadata {
  name: string;
  uid: string;
  namespace: string;
  attempt: number;
}

export interface SandboxConfig {
  metadata: SandboxMetadata;
  hostname?: string;
  logDirectory: string;
  dnsConfig?: {servers: string[]; searches: string[]; options: string[]};
  portMappings?: {protocol: number; containerPort: number; hostPort: number; hostIp?: string}[];
  labels: Labels;
  annotations: Labels;
  linux?: LinuxSandboxConfig;
}

/** POD: shared in the sandbox; CONTAINER: its own; NODE: the host's. */
export const namespaceMode = {pod: 0, container: 1, node: 2, target: 3} as const;
export const protocolNumber: Readonly<Record<string, number>> = {TCP: 0, UDP: 1, SCTP: 2};
export const mountPropagation: Readonly<Record<string, number>> = {None: 0, HostToContainer: 1, Bidirectional: 2};

export interface NamespaceOptions {
  network: number;
  pid: number;
  ipc: number;
  targetId?: string;
}

export interface SecurityProfile {
  /** 0 the runtime's default, 1 unconfined, 2 the file named by localhostRef. */
  profileType: number;
  localhostRef?: string;
}

export interface SeLinux {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

export interface LinuxSandboxConfig {
  cgroupParent?: string;
  securityContext?: {
    namespaceOptions?: NamespaceOptions;
    selinuxOptions?: SeLinux;
    runAsUser?: {value: number};
    runAsGroup?: {value: number};
    supplementalGroups?: number[];
    privileged?: boolean;
    seccomp?: SecurityProfile;
  };
  sysctls?: Labels;
}

export interface LinuxResources {
  cpuPeriod?: number;
  cpuQuota?: number;
  cpuShares?: number;
  memoryLimitInBytes?: number;
  oomScoreAdj?: number;
  cpusetCpus?: string;
  cpusetMems?: string;
  hugepageLimits?: {pageSize: string; limit: number}[];
}

export interface Mount {
  containerPath: string;
  hostPath: string;
  readonly?: boolean;
  selinuxRelabel?: boolean;
  propagation?: number;
}

export interface ContainerConfig {
  metadata: {name: string; attempt: number};
  image: {image: string; userSpecifiedImage?: string};
  command?: string[];
  args?: string[];
  workingDir?: string;
  envs?: {key: string; value: Uint8Array}[];
  mounts?: Mount[];
  devices?: {containerPath: string; hostPath: string; permissions: string}[];
  labels: Labels;
  annotations: Labels;
  logPath: string;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
  linux?: {
    resources?: LinuxResources;
    securityContext?: LinuxContainerSecurity;
  };
  stopSignal?: number;
}

export interface LinuxContainerSecurity {
  capabilities?: {addCapabilities?: string[]; dropCapabilities?: string[]};
  privileged?: boolean;
  namespaceOptions?: NamespaceOptions;
  selinuxOptions?: SeLinux;
  runAsUser?: {value: number};
  runAsGroup?: {value: number};
  runAsUsername?: string;
  readonlyRootfs?: boolean;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: number;
  noNewPrivs?: boolean;
  maskedPaths?: string[];
  readonlyPaths?: string[];
  seccomp?: SecurityProfile;
  apparmor?: SecurityProfile;
  apparmorProfile?: string;
}

export interface Sandbox {
  id: string;
  metadata: SandboxMetadata;
  /** 0 ready, 1 not. */
  state: number;
  createdAt: number;
  labels: Labels;
  annotations: Labels;
}

export const sandboxReady = 0;

export interface SandboxStatus extends Sandbox {
  /** The first is the pod's address; none with the host's network. */
  ips: string[];
}

export const containerState = {created: 0, running: 1, exited: 2, unknown: 3} as const;

export interface Container {
  id: string;
  podSandboxId: string;
  metadata: {name: string; attempt: number};
  image: {image: string};
  imageRef: string;
  state: number;
  createdAt: number;
  labels: Labels;
  annotations: Labels;
}

export interface ContainerStatus {
  id: string;
  metadata: {name: string; attempt: number};
  state: number;
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  image: {image: string};
  imageRef: string;
  reason: string;
  message: string;
  labels: Labels;
  annotations: Labels;
  logPath: string;
}

export interface ExecResult {
  stdout: Uint8Array;
  stderr: Uint8Array;
  exitCode: number;
}

export interface AttachStream {
  containerId: string;
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

export interface ExecStream extends AttachStream {
  cmd: string[];
}

export interface Image {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  size: number;
  /** Absent where the image names a user, or none. */
  uid?: {value: number};
  username: string;
  pinned: boolean;
}

export interface RegistryAuth {
  username?: string;
  password?: string;
  auth?: string;
  serverAddress?: string;
  identityToken?: string;
  registryToken?: string;
}

export interface FilesystemUsage {
  timestamp: number;
  fsId?: {mountpoint: string};
  usedBytes?: {value: number};
  inodesUsed?: {value: number};
}

export interface ContainerStats {
  attributes: {id: string; metadata: {name: string; attempt: number}; labels: Labels};
  cpu?: {timestamp: number; usageCoreNanoSeconds?: {value: number}; usageNanoCores?: {value: number}};
  memory?: {timestamp: number; workingSetBytes?: {value: number}; usageBytes?: {value: number}; rssBytes?: {value: number}};
  writableLayer?: FilesystemUsage;
}
