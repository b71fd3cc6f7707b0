/** The file of --config: NodeAgentConfiguration, or a kubelet's own KubeletConfiguration. Its fields are flags under other names. */
import {readFile} from 'node:fs/promises';
import {dirname, resolve} from 'node:path';
import {parseYaml} from '../../shared/schema/yaml.ts';
import {flagNamed} from './flags.ts';
import {readValue, type Value} from './values.ts';

const kinds: Readonly<Record<string, string>> = {
  'nodeagent.config.k8s.io/v1beta1': 'NodeAgentConfiguration',
  'kubelet.config.k8s.io/v1beta1': 'KubeletConfiguration',
};

/** Field to flag; `a.b` is a field in a field. */
const fields: Readonly<Record<string, string>> = {
  podAPI: 'pod-api',
  podAPIPort: 'pod-api-port',
  tunnel: 'tunnel',
  address: 'address',
  port: 'port',
  readOnlyPort: 'read-only-port',
  enableServer: 'enable-server',
  enableDebuggingHandlers: 'enable-debugging-handlers',
  healthzBindAddress: 'healthz-bind-address',
  healthzPort: 'healthz-port',
  'authentication.anonymous.enabled': 'anonymous-auth',
  'authentication.x509.clientCAFile': 'client-ca-file',
  'authentication.webhook.enabled': 'authentication-token-webhook',
  'authentication.webhook.cacheTTL': 'authentication-token-webhook-cache-ttl',
  'authorization.mode': 'authorization-mode',
  'authorization.webhook.cacheAuthorizedTTL': 'authorization-webhook-cache-authorized-ttl',
  'authorization.webhook.cacheUnauthorizedTTL': 'authorization-webhook-cache-unauthorized-ttl',
  tlsCertFile: 'tls-cert-file',
  tlsPrivateKeyFile: 'tls-private-key-file',
  tlsMinVersion: 'tls-min-version',
  tlsCipherSuites: 'tls-cipher-suites',
  rotateCertificates: 'rotate-certificates',
  serverTLSBootstrap: 'rotate-server-certificates',
  staticPodPath: 'pod-manifest-path',
  staticPodURL: 'manifest-url',
  staticPodURLHeader: 'manifest-url-header',
  fileCheckFrequency: 'file-check-frequency',
  httpCheckFrequency: 'http-check-frequency',
  syncFrequency: 'sync-frequency',
  registerNode: 'register-node',
  registerWithTaints: 'register-with-taints',
  providerID: 'provider-id',
  podCIDR: 'pod-cidr',
  containerRuntimeEndpoint: 'container-runtime-endpoint',
  imageServiceEndpoint: 'image-service-endpoint',
  runtimeRequestTimeout: 'runtime-request-timeout',
  serializeImagePulls: 'serialize-image-pulls',
  registryPullQPS: 'registry-qps',
  registryBurst: 'registry-burst',
  imageGCHighThresholdPercent: 'image-gc-high-threshold',
  imageGCLowThresholdPercent: 'image-gc-low-threshold',
  imageMinimumGCAge: 'minimum-image-ttl-duration',
  clusterDNS: 'cluster-dns',
  clusterDomain: 'cluster-domain',
  resolvConf: 'resolv-conf',
  hairpinMode: 'hairpin-mode',
  makeIPTablesUtilChains: 'make-iptables-util-chains',
  iptablesDropBit: 'iptables-drop-bit',
  iptablesMasqueradeBit: 'iptables-masquerade-bit',
  containerLogMaxFiles: 'container-log-max-files',
  containerLogMaxSize: 'container-log-max-size',
  streamingConnectionIdleTimeout: 'streaming-connection-idle-timeout',
  volumePluginDir: 'volume-plugin-dir',
  volumeStatsAggPeriod: 'volume-stats-agg-period',
  enableControllerAttachDetach: 'enable-controller-attach-detach',
  seccompDefault: 'seccomp-default',
  cgroupDriver: 'cgroup-driver',
  cgroupRoot: 'cgroup-root',
  cgroupsPerQOS: 'cgroups-per-qos',
  cpuCFSQuota: 'cpu-cfs-quota',
  cpuCFSQuotaPeriod: 'cpu-cfs-quota-period',
  cpuManagerPolicy: 'cpu-manager-policy',
  cpuManagerReconcilePeriod: 'cpu-manager-reconcile-period',
  memoryManagerPolicy: 'memory-manager-policy',
  topologyManagerPolicy: 'topology-manager-policy',
  topologyManagerScope: 'topology-manager-scope',
  enforceNodeAllocatable: 'enforce-node-allocatable',
  kubeReserved: 'cluster-reserved',
  clusterReserved: 'cluster-reserved',
  systemReserved: 'system-reserved',
  kubeReservedCgroup: 'cluster-reserved-cgroup',
  clusterReservedCgroup: 'cluster-reserved-cgroup',
  systemReservedCgroup: 'system-reserved-cgroup',
  reservedSystemCPUs: 'reserved-cpus',
  qosReserved: 'qos-reserved',
  kubeletCgroups: 'nodeagent-cgroups',
  nodeagentCgroups: 'nodeagent-cgroups',
  systemCgroups: 'system-cgroups',
  maxPods: 'max-pods',
  podsPerCore: 'pods-per-core',
  podPidsLimit: 'pod-max-pids',
  maxOpenFiles: 'max-open-files',
  oomScoreAdj: 'oom-score-adj',
  failSwapOn: 'fail-swap-on',
  protectKernelDefaults: 'protect-kernel-defaults',
  allowedUnsafeSysctls: 'allowed-unsafe-sysctls',
  evictionHard: 'eviction-hard',
  evictionSoft: 'eviction-soft',
  evictionSoftGracePeriod: 'eviction-soft-grace-period',
  evictionMinimumReclaim: 'eviction-minimum-reclaim',
  evictionMaxPodGracePeriod: 'eviction-max-pod-grace-period',
  evictionPressureTransitionPeriod: 'eviction-pressure-transition-period',
  kernelMemcgNotification: 'kernel-memcg-notification',
  nodeStatusUpdateFrequency: 'node-status-update-frequency',
  nodeStatusMaxImages: 'node-status-max-images',
  eventRecordQPS: 'event-qps',
  eventBurst: 'event-burst',
  kubeAPIQPS: 'cluster-api-qps',
  kubeAPIBurst: 'cluster-api-burst',
  clusterAPIQPS: 'cluster-api-qps',
  clusterAPIBurst: 'cluster-api-burst',
  contentType: 'cluster-api-content-type',
  enableContentionProfiling: 'contention-profiling',
  featureGates: 'feature-gates',
  'logging.format': 'logging-format',
};

/** Paths in the file are meant from where the file is. */
const paths = new Set(['pod-manifest-path', 'client-ca-file', 'tls-cert-file', 'tls-private-key-file', 'resolv-conf', 'volume-plugin-dir']);
const groups = new Set(
  Object.keys(fields).flatMap((field) =>
    field
      .split('.')
      .slice(0, -1)
      .map((_, index, all) => all.slice(0, index + 1).join('.')),
  ),
);

/** @throws Error that says what is wrong with the file; every unknown field is named */
export async function readConfigFile(file: string): Promise<Map<string, Value>> {
  const fail = (why: string): never => {
    throw new Error(`failed to load config file ${file}, error ${why}`);
  };
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) =>
    fail(`failed to read config file ${file}: ${error.code === 'ENOENT' ? `open ${file}: no such file or directory` : error.message}`),
  );
  let root: Record<string, unknown>;
  try {
    root = parseYaml(bytes).value as Record<string, unknown>;
  } catch (error) {
    return fail(`failed to decode: ${(error as Error).message}`);
  }
  if (!root || kinds[root.apiVersion as string] !== root.kind)
    fail(`no kind ${JSON.stringify(root?.kind ?? '')} is registered for version ${JSON.stringify(root?.apiVersion ?? '')}`);
  const values = new Map<string, Value>();
  const problems: string[] = [];
  walk(root, '', (path, value) => {
    if (path === 'apiVersion' || path === 'kind') return;
    const flag = fields[path] && flagNamed(fields[path]);
    if (!flag) return void problems.push(`unknown field ${JSON.stringify(path)}`);
    try {
      const read = readValue(flag, textOf(value, flag.name));
      values.set(flag.name, typeof read === 'string' && read && paths.has(flag.name) ? resolve(dirname(file), read) : read);
    } catch (error) {
      problems.push(`${path}: ${(error as Error).message}`);
    }
  });
  if (problems.length > 0) fail(`strict decoding error: ${problems.join(', ')}`);
  return values;
}

function walk(object: Record<string, unknown>, prefix: string, visit: (path: string, value: unknown) => void): void {
  for (const [key, value] of Object.entries(object)) {
    const path = prefix + key;
    if (groups.has(path) && value && typeof value === 'object') walk(value as Record<string, unknown>, `${path}.`, visit);
    else visit(path, value);
  }
}

/** As it would stand on the command line. */
function textOf(value: unknown, flag: string): string {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' ? taintText(item) : String(item))).join(',');
  if (value && typeof value === 'object') {
    const sign = /^eviction-(hard|soft)$/.test(flag) ? '<' : flag === 'manifest-url-header' ? ':' : '=';
    return Object.entries(value)
      .map(([key, item]) => `${key}${sign}${Array.isArray(item) ? item.join(';') : item}`)
      .join(',');
  }
  if (flag === 'seccomp-default') return value ? 'RuntimeDefault' : '';
  return value === null ? '' : String(value);
}

const taintText = ({key, value = '', effect}: {key?: string; value?: string; effect?: string}): string => `${key}=${value}:${effect}`;
