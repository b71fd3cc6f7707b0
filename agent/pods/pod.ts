/** A pod as the agent reads it: the fields that it acts on. What came through the API has been defaulted and validated there. */
import type {ObjectMeta} from '../../shared/object.ts';
import type {Term} from '../../shared/selector/node-selector.ts';

export interface Pod {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta & {name: string; namespace: string; uid: string};
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodSpec {
  nodeName?: string;
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: string;
  dnsConfig?: {nameservers?: string[]; searches?: string[]; options?: {name: string; value?: string}[]};
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  shareProcessNamespace?: boolean;
  securityContext?: PodSecurityContext;
  imagePullSecrets?: {name: string}[];
  hostname?: string;
  subdomain?: string;
  setHostnameAsFQDN?: boolean;
  hostAliases?: {ip: string; hostnames?: string[]}[];
  enableServiceLinks?: boolean;
  runtimeClassName?: string;
  priority?: number;
  priorityClassName?: string;
  tolerations?: {key?: string; operator?: string; value?: string; effect?: string}[];
  nodeSelector?: Record<string, string>;
  affinity?: {nodeAffinity?: {requiredDuringSchedulingIgnoredDuringExecution?: {nodeSelectorTerms: Term[]}}};
  readinessGates?: {conditionType: string}[];
  overhead?: Resources;
  resources?: ResourceRequirements;
}

export type Resources = Record<string, string>;

export interface ResourceRequirements {
  requests?: Resources;
  limits?: Resources;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: {name?: string; containerPort: number; hostPort?: number; hostIP?: string; protocol?: string}[];
  env?: EnvVar[];
  envFrom?: {prefix?: string; configMapRef?: LocalReference; secretRef?: LocalReference}[];
  resources?: ResourceRequirements;
  resizePolicy?: {resourceName: string; restartPolicy: string}[];
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: {postStart?: Handler; preStop?: Handler; stopSignal?: string};
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
  /** Of an init container: `Always` makes it a sidecar. Of another it stands for the pod's. */
  restartPolicy?: string;
  restartPolicyRules?: {action: string; exitCodes?: {operator: string; values?: number[]}}[];
  /** Of an ephemeral container. */
  targetContainerName?: string;
}

export interface LocalReference {
  name: string;
  optional?: boolean;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: {fieldPath: string};
    resourceFieldRef?: ResourceFieldRef;
    configMapKeyRef?: LocalReference & {key: string};
    secretKeyRef?: LocalReference & {key: string};
  };
}

export interface ResourceFieldRef {
  containerName?: string;
  resource: string;
  divisor?: string;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: string;
}

export interface Handler {
  exec?: {command: string[]};
  httpGet?: {path?: string; port: number | string; host?: string; scheme?: string; httpHeaders?: {name: string; value: string}[]};
  tcpSocket?: {port: number | string; host?: string};
  grpc?: {port: number; service?: string};
  sleep?: {seconds: number};
}

export interface Probe extends Handler {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface PodSecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: string;
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  seLinuxOptions?: Record<string, string>;
  seccompProfile?: Profile;
  appArmorProfile?: Profile;
  sysctls?: {name: string; value: string}[];
}

export interface Profile {
  type: string;
  localhostProfile?: string;
}

export interface SecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  privileged?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  capabilities?: {add?: string[]; drop?: string[]};
  procMount?: string;
  seLinuxOptions?: Record<string, string>;
  seccompProfile?: Profile;
  appArmorProfile?: Profile;
}

export interface KeyItem {
  key: string;
  path: string;
  mode?: number;
}

export interface DownwardItem {
  path: string;
  fieldRef?: {fieldPath: string};
  resourceFieldRef?: ResourceFieldRef;
  mode?: number;
}

export interface ProjectedSource {
  configMap?: LocalReference & {items?: KeyItem[]};
  secret?: LocalReference & {items?: KeyItem[]};
  downwardAPI?: {items?: DownwardItem[]};
  serviceAccountToken?: {path: string; audience?: string; expirationSeconds?: number};
}

export interface Volume {
  name: string;
  emptyDir?: {medium?: string; sizeLimit?: string};
  hostPath?: {path: string; type?: string};
  configMap?: LocalReference & {items?: KeyItem[]; defaultMode?: number};
  secret?: {secretName: string; optional?: boolean; items?: KeyItem[]; defaultMode?: number};
  downwardAPI?: {items?: DownwardItem[]; defaultMode?: number};
  projected?: {sources?: ProjectedSource[]; defaultMode?: number};
  nfs?: {server: string; path: string; readOnly?: boolean};
  persistentVolumeClaim?: {claimName: string; readOnly?: boolean};
  [other: string]: unknown;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export interface ContainerState {
  waiting?: {reason?: string; message?: string};
  running?: {startedAt: string};
  terminated?: Terminated;
}

export interface Terminated {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt: string | null;
  finishedAt: string | null;
  containerID?: string;
}

export interface ContainerStatus {
  name: string;
  state: ContainerState;
  lastState: ContainerState;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  started?: boolean;
  allocatedResources?: Resources;
  resources?: ResourceRequirements;
}

export interface PodStatus {
  phase: string;
  observedGeneration?: number;
  conditions?: Condition[];
  message?: string;
  reason?: string;
  hostIP?: string;
  hostIPs?: {ip: string}[];
  podIP?: string;
  podIPs?: {ip: string}[];
  startTime?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  qosClass?: string;
}

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export const allContainers = ({spec}: Pod): Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? []),
];

/** As the reference writes it in messages. */
export const fullName = ({metadata}: Pod): string => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

/** Where a container stands in its pod, as events name it. */
export function fieldPathOf({spec}: Pod, name: string): string {
  if (spec.initContainers?.some((container) => container.name === name)) return `spec.initContainers{${name}}`;
  if (spec.ephemeralContainers?.some((container) => container.name === name)) return `spec.ephemeralContainers{${name}}`;
  return `spec.containers{${name}}`;
}

export const annotation = {
  source: 'kubernetes.io/config.source',
  hash: 'kubernetes.io/config.hash',
  seen: 'kubernetes.io/config.seen',
  mirror: 'kubernetes.io/config.mirror',
} as const;

/** Made from a file or an URL: the agent's own, the API has only its mirror. */
export const isStatic = ({metadata}: Pod): boolean => {
  const source = metadata.annotations?.[annotation.source];
  return source !== undefined && source !== 'api';
};
export const isMirror = ({metadata}: {metadata: ObjectMeta}): boolean => metadata.annotations?.[annotation.mirror] !== undefined;

/** The pod with other containers in the places of those that it declares; ephemeral ones stay. */
export function withContainers(pod: Pod, replace: (container: Container) => Container): Pod {
  const {spec} = pod;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(replace),
      ...(spec.initContainers && {initContainers: spec.initContainers.map(replace)}),
    },
  };
}
