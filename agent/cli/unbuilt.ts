/** Flags that are read and checked, but have no effect in this version: said at start when one is set to anything but its default. */
import type {Settings} from './settings.ts';

export const unbuilt: ReadonlySet<string> = new Set([
  'bootstrap-clusterconfig',
  'cloud-config',
  'rotate-certificates',
  'rotate-server-certificates',
  'image-credential-provider-bin-dir',
  'image-credential-provider-config',
  '<cloud>-container-registry-config',
  'builtin-endpoint',
  'runtime-cgroups',
  'image-pull-progress-deadline',
  'network-plugin',
  'network-plugin-mtu',
  'cni-bin-dir',
  'cni-cache-dir',
  'cni-conf-dir',
  'hairpin-mode',
  'pod-cidr',
  'non-masquerade-cidr',
  'make-iptables-util-chains',
  'iptables-drop-bit',
  'iptables-masquerade-bit',
  'streaming-connection-idle-timeout',
  'volume-plugin-dir',
  'volume-stats-agg-period',
  'experimental-mounter-path',
  'experimental-check-node-capabilities-before-mount',
  'cpu-manager-policy',
  'cpu-manager-policy-options',
  'cpu-manager-reconcile-period',
  'memory-manager-policy',
  'topology-manager-policy',
  'topology-manager-scope',
  'cluster-reserved-cgroup',
  'system-reserved-cgroup',
  'reserved-cpus',
  'reserved-memory',
  'qos-reserved',
  'nodeagent-cgroups',
  'system-cgroups',
  'protect-kernel-defaults',
  'eviction-soft',
  'eviction-soft-grace-period',
  'eviction-minimum-reclaim',
  'eviction-max-pod-grace-period',
  'eviction-pressure-transition-period',
  'kernel-memcg-notification',
  'cluster-api-content-type',
  'contention-profiling',
  'enforce-node-allocatable',
  'add-dir-header',
  'log-backtrace-at',
  'vmodule',
  'experimental-log-sanitization',
  'feature-gates',
]);

/** What the agent does anyway is no lack of an effect: it speaks JSON. */
const asAsked: Readonly<Record<string, string>> = {'cluster-api-content-type': 'application/json'};

export const unbuiltLines = (settings: Settings): string[] =>
  [...unbuilt]
    .filter((name) => settings.differs(name) && !(name in asAsked && settings.text(name) === asAsked[name]))
    .map((name) => `--${name} is set, but has no effect in this version`);
