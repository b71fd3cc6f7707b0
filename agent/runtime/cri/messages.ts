/**
 * The messages of the container runtime interface (v1) and of containerd's event stream, as data: `number name type`, `[]` for repeated, `{}`
 * for a map from string to string. Only what the agent reads or writes; readers skip the rest.
 */
import {compile, type Message} from './codec.ts';

const namespaces = '1 network int32,2 pid int32,3 ipc int32,4 targetId string';
const metadata = '1 name string,2 uid string,3 namespace string,4 attempt uint32';
const profile = '1 profileType int32,2 localhostRef string';
const filter = '1 id string,2 state StateValue,3 labelSelector {}';

const definitions = {
  Empty: '',
  VersionRequest: '1 version string',
  VersionResponse: '2 runtimeName string,3 runtimeVersion string,4 runtimeApiVersion string',
  StatusRequest: '1 verbose bool',
  Condition: '1 type string,2 status bool,3 reason string,4 message string',
  Conditions: '1 conditions []Condition',
  Handler: '1 name string',
  StatusResponse: '1 status Conditions,2 info {},3 runtimeHandlers []Handler',

  Number: '1 value int64',
  StateValue: '1 state int32',
  NamespaceOption: namespaces,
  SeLinux: '1 user string,2 role string,3 type string,4 level string',
  Profile: profile,
  SandboxMetadata: metadata,
  DnsConfig: '1 servers []string,2 searches []string,3 options []string',
  PortMapping: '1 protocol int32,2 containerPort int32,3 hostPort int32,4 hostIp string',
  SandboxSecurity:
    '1 namespaceOptions NamespaceOption,2 selinuxOptions SeLinux,3 runAsUser Number,5 supplementalGroups []int64,6 privileged bool,8 runAsGroup Number,9 seccomp Profile',
  LinuxSandbox: '1 cgroupParent string,2 securityContext SandboxSecurity,3 sysctls {}',
  SandboxConfig:
    '1 metadata SandboxMetadata,2 hostname string,3 logDirectory string,4 dnsConfig DnsConfig,5 portMappings []PortMapping,6 labels {},7 annotations {},8 linux LinuxSandbox',
  RunSandboxRequest: '1 config SandboxConfig,2 runtimeHandler string',
  SandboxId: '1 podSandboxId string',
  Filter: filter,
  ListRequest: '1 filter Filter',
  Sandbox: '1 id string,2 metadata SandboxMetadata,3 state int32,4 createdAt int64,5 labels {},6 annotations {}',
  SandboxList: '1 items []Sandbox',
  PodIp: '1 ip string',
  Network: '1 ip string,2 additionalIps []PodIp',
  SandboxStatus: '1 id string,2 metadata SandboxMetadata,3 state int32,4 createdAt int64,5 network Network,7 labels {},8 annotations {}',
  SandboxStatusResponse: '1 status SandboxStatus',

  ImageSpec: '1 image string,2 annotations {},18 userSpecifiedImage string',
  Hugepages: '1 pageSize string,2 limit uint64',
  Resources:
    '1 cpuPeriod int64,2 cpuQuota int64,3 cpuShares int64,4 memoryLimitInBytes int64,5 oomScoreAdj int64,6 cpusetCpus string,7 cpusetMems string,8 hugepageLimits []Hugepages',
  Capability: '1 addCapabilities []string,2 dropCapabilities []string',
  ContainerSecurity:
    '1 capabilities Capability,2 privileged bool,3 namespaceOptions NamespaceOption,4 selinuxOptions SeLinux,5 runAsUser Number,6 runAsUsername string,7 readonlyRootfs bool,8 supplementalGroups []int64,9 apparmorProfile string,11 noNewPrivs bool,12 runAsGroup Number,13 maskedPaths []string,14 readonlyPaths []string,15 seccomp Profile,16 apparmor Profile,17 supplementalGroupsPolicy int32',
  LinuxContainer: '1 resources Resources,2 securityContext ContainerSecurity',
  ContainerMetadata: '1 name string,2 attempt uint32',
  Mount: '1 containerPath string,2 hostPath string,3 readonly bool,4 selinuxRelabel bool,5 propagation int32',
  Device: '1 containerPath string,2 hostPath string,3 permissions string',
  KeyValue: '1 key string,2 value bytes',
  ContainerConfig:
    '1 metadata ContainerMetadata,2 image ImageSpec,3 command []string,4 args []string,5 workingDir string,6 envs []KeyValue,7 mounts []Mount,8 devices []Device,9 labels {},10 annotations {},11 logPath string,12 stdin bool,13 stdinOnce bool,14 tty bool,15 linux LinuxContainer,18 stopSignal int32',
  CreateContainerRequest: '1 podSandboxId string,2 config ContainerConfig,3 sandboxConfig SandboxConfig',
  ContainerId: '1 containerId string',
  StopContainerRequest: '1 containerId string,2 timeout int64',
  Container:
    '1 id string,2 podSandboxId string,3 metadata ContainerMetadata,4 image ImageSpec,5 imageRef string,6 state int32,7 createdAt int64,8 labels {},9 annotations {}',
  ContainerFilter: '1 id string,2 state StateValue,3 podSandboxId string,4 labelSelector {}',
  ContainersRequest: '1 filter ContainerFilter',
  ContainerList: '1 containers []Container',
  ContainerStatus:
    '1 id string,2 metadata ContainerMetadata,3 state int32,4 createdAt int64,5 startedAt int64,6 finishedAt int64,7 exitCode int32,8 image ImageSpec,9 imageRef string,10 reason string,11 message string,12 labels {},13 annotations {},15 logPath string',
  ContainerStatusResponse: '1 status ContainerStatus',
  UpdateResourcesRequest: '1 containerId string,2 linux Resources',
  ExecSyncRequest: '1 containerId string,2 cmd []string,3 timeout int64',
  ExecSyncResponse: '1 stdout bytes,2 stderr bytes,3 exitCode int32',
  ExecRequest: '1 containerId string,2 cmd []string,3 tty bool,4 stdin bool,5 stdout bool,6 stderr bool',
  AttachRequest: '1 containerId string,2 stdin bool,3 tty bool,4 stdout bool,5 stderr bool',
  PortForwardRequest: '1 podSandboxId string,2 port []int32',
  Url: '1 url string',

  Image: '1 id string,2 repoTags []string,3 repoDigests []string,4 size uint64,5 uid Number,6 username string,8 pinned bool',
  ImageRequest: '1 image ImageSpec',
  ImageList: '1 images []Image',
  ImageResponse: '1 image Image',
  Auth: '1 username string,2 password string,3 auth string,4 serverAddress string,5 identityToken string,6 registryToken string',
  PullRequest: '1 image ImageSpec,2 auth Auth,3 sandboxConfig SandboxConfig',
  ImageRef: '1 imageRef string',
  FilesystemId: '1 mountpoint string',
  FilesystemUsage: '1 timestamp int64,2 fsId FilesystemId,3 usedBytes Number,4 inodesUsed Number',
  ImageFsInfo: '1 imageFilesystems []FilesystemUsage',
  Attributes: '1 id string,2 metadata ContainerMetadata,3 labels {}',
  Cpu: '1 timestamp int64,2 usageCoreNanoSeconds Number,3 usageNanoCores Number',
  Memory: '1 timestamp int64,2 workingSetBytes Number,4 usageBytes Number,5 rssBytes Number',
  ContainerStats: '1 attributes Attributes,2 cpu Cpu,3 memory Memory,4 writableLayer FilesystemUsage',
  StatsFilter: '1 id string,2 podSandboxId string,3 labelSelector {}',
  StatsRequest: '1 filter StatsFilter',
  StatsList: '1 stats []ContainerStats',
  ContainerEvent: '1 containerId string,2 containerEventType int32',

  SubscribeRequest: '1 filters []string',
  Any: '1 typeUrl string,2 value bytes',
  Envelope: '2 namespace string,3 topic string,4 event Any',
  TaskEvent: '1 containerId string,2 id string',
} as const;

export const messages: Record<keyof typeof definitions, Message> = compile(definitions);
