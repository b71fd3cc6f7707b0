/** What a pod's worker needs of its surroundings. One for all pods. */
import type {Clock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {Cgroups} from '../cgroups/cgroups.ts';
import type {Recorder} from '../events/recorder.ts';
import type {Puller} from '../images/puller.ts';
import type {Prober} from '../probes/prober.ts';
import type {Runtime} from '../runtime/runtime.ts';
import type {StatusSink} from '../status/writer.ts';
import type {TokenRequest} from '../volumes/payload.ts';
import type {Volumes} from '../volumes/volumes.ts';
import type {DeadPolicy} from './dead-containers.ts';
import type {References} from './environment.ts';
import type {DnsSettings} from './network-files.ts';
import type {Pod, Resources} from './pod.ts';
import type {ResourceSettings} from './resources.ts';
import type {SecuritySettings} from './security.ts';
import type {Slots} from './slots.ts';

export interface PodContext {
  runtime: Runtime;
  /** Before container ids. */
  runtimeName(): string;
  clock: Clock;
  puller: Puller;
  prober: Prober;
  volumes: Volumes;
  cgroups: Cgroups;
  recorder: Recorder;
  status: StatusSink;
  references: References & {
    /** The pod's objects are kept as they change while it is there. */
    follow(pod: Pod): void;
    unfollow(uid: string): void;
  };
  token(request: TokenRequest): Promise<string>;
  /** Variables of the services that a pod of the namespace sees. */
  serviceVariables(namespace: string, links: boolean): Promise<Map<string, string>>;
  hostIps(): readonly string[];
  allocatable(): Resources;
  /** Undefined: admitted. */
  admit(pod: Pod): {reason: string; message: string} | undefined;
  /** The last word to the API on a pod that has ended and was deleted. */
  deletePod(pod: Pod): Promise<void>;
  runtimeHandler(className: string): Promise<string>;
  pullSecrets(pod: Pod): Promise<KubeObject[]>;
  settings: PodSettings;
  /** Sandboxes being made or taken down at the same time. */
  starts: Slots;
  log: Log;
}

export interface PodSettings {
  logRoot: string;
  rootDir: string;
  dns(): Promise<DnsSettings>;
  resources: ResourceSettings;
  security: SecuritySettings;
  keepTerminatedVolumes: boolean;
  dead: DeadPolicy;
}

export interface Log {
  error(text: string, error?: unknown): void;
  warn(text: string): void;
  info(text: string): void;
  debug(text: string): void;
}
