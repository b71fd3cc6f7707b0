/**
 * The Pod Security Standards: what each level forbids, in the words of the reference. A check answers undefined, or why and where a pod
 * violates it. The newest version of each check applies, whatever version a namespace names.
 */
import {goQuote} from '../../field-errors.ts';
import {entries, list, type Part} from '../../kinds/common/loose.ts';

export interface Violation {
  /** What is forbidden, for people: `host namespaces`. */
  reason: string;
  /** Who does it: `hostNetwork=true`. */
  detail: string;
}

export type Check = (spec: Part) => Violation | undefined;

const containersOf = (spec: Part): Part[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => list(spec?.[field]));
const quoted = (values: readonly string[]): string => values.map(goQuote).join(', ');
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);
const named = (containers: readonly Part[]): string =>
  `${plural(containers.length, 'container')} ${quoted(containers.map(({name}) => name))}`;
const contextOf = (container: Part): Part => container.securityContext ?? {};

/** `pod and container "a"`, `pod`, or `container "a"`. */
function whoDoes(podDoes: boolean, containers: readonly Part[]): string {
  const parts = [...(podDoes ? ['pod'] : []), ...(containers.length ? [named(containers)] : [])];
  return parts.join(' and ');
}

const say = (condition: boolean, reason: string, detail: () => string): Violation | undefined =>
  condition ? {reason, detail: detail()} : undefined;

const appArmor: Check = (spec) => {
  const bad = (context: Part): boolean => context?.appArmorProfile?.type === 'Unconfined';
  const containers = containersOf(spec).filter((container) => bad(contextOf(container)));
  const pod = bad(spec.securityContext);
  const reason = `forbidden AppArmor ${plural(Number(pod) + containers.length, 'profile')}`;
  return say(pod || containers.length > 0, reason, () => `${whoDoes(pod, containers)} must not set AppArmor profile type to "Unconfined"`);
};

const defaultCapabilities = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' '),
);
const added = (container: Part): string[] => list(contextOf(container).capabilities?.add);

const capabilitiesBaseline: Check = (spec) => {
  const isBad = (capability: string): boolean => !defaultCapabilities.has(capability);
  const containers = containersOf(spec).filter((container) => added(container).some(isBad));
  const names = unique(containers.flatMap(added).filter(isBad)).sort();
  return say(
    containers.length > 0,
    'non-default capabilities',
    () => `${named(containers)} must not include ${quoted(names)} in securityContext.capabilities.add`,
  );
};

const hostNamespaces: Check = (spec) => {
  const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field]);
  return say(used.length > 0, 'host namespaces', () => used.map((field) => `${field}=true`).join(', '));
};

const hostPathVolumes: Check = (spec) => {
  const names = list(spec.volumes)
    .filter(({hostPath}) => hostPath)
    .map(({name}) => name);
  return say(names.length > 0, 'hostPath volumes', () => `${plural(names.length, 'volume')} ${quoted(names)}`);
};

const hostPorts: Check = (spec) => {
  const portsOf = ({ports}: Part): number[] => list(ports).flatMap(({hostPort}) => (hostPort ? [hostPort] : []));
  const containers = containersOf(spec).filter((container) => portsOf(container).length);
  const ports = unique(containers.flatMap(portsOf)).sort((one, other) => (String(one) < String(other) ? -1 : 1));
  return say(
    containers.length > 0,
    'hostPort',
    () => `${named(containers)} ${plural(containers.length, 'uses', 'use')} ${plural(ports.length, 'hostPort')} ${ports.join(', ')}`,
  );
};

const probeHosts: Check = (spec) => {
  const hostsOf = (container: Part): string[] =>
    ['livenessProbe', 'readinessProbe', 'startupProbe']
      .map((name) => container[name])
      .concat(['postStart', 'preStop'].map((name) => container.lifecycle?.[name]))
      .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
      .filter((host) => host);
  const containers = containersOf(spec).filter((container) => hostsOf(container).length);
  const hosts = unique(containers.flatMap(hostsOf)).sort();
  return say(
    containers.length > 0,
    'probe or lifecycle host',
    () =>
      `${named(containers)} ${plural(containers.length, 'uses', 'use')} probe or lifecycle ${plural(hosts.length, 'host')} ${quoted(hosts)}`,
  );
};

const privileged: Check = (spec) => {
  const containers = containersOf(spec).filter((container) => contextOf(container).privileged);
  return say(containers.length > 0, 'privileged', () => `${named(containers)} must not set securityContext.privileged=true`);
};

/** A pod in a user namespace of its own may unmask its own. */
const procMount =
  (always: boolean): Check =>
  (spec) => {
    if (!always && spec.hostUsers === false) return undefined;
    const containers = containersOf(spec).filter((container) => !['Default', undefined].includes(contextOf(container).procMount));
    const types = unique(containers.map((container) => contextOf(container).procMount as string)).sort();
    return say(containers.length > 0, 'procMount', () => `${named(containers)} must not set securityContext.procMount to ${quoted(types)}`);
  };

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);

const seLinuxOptions: Check = (spec) => {
  const types: string[] = [];
  let [user, role] = [false, false];
  const bad = (options: Part): boolean => {
    if (!options) return false;
    const typeIsBad = !seLinuxTypes.has(options.type ?? '');
    if (typeIsBad) types.push(options.type);
    user ||= Boolean(options.user);
    role ||= Boolean(options.role);
    return typeIsBad || Boolean(options.user) || Boolean(options.role);
  };
  const pod = bad(spec.securityContext?.seLinuxOptions);
  const containers = containersOf(spec).filter((container) => bad(contextOf(container).seLinuxOptions));
  const names = unique(types).sort();
  const what = [
    ...(names.length ? [`${plural(names.length, 'type')} ${quoted(names)}`] : []),
    ...(user ? ['user may not be set'] : []),
    ...(role ? ['role may not be set'] : []),
  ];
  return say(
    pod || containers.length > 0,
    'seLinuxOptions',
    () => `${whoDoes(pod, containers)} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
  );
};

const profileType = (context: Part): string | undefined => context?.seccompProfile?.type;

const seccompBaseline: Check = (spec) => {
  const pod = profileType(spec.securityContext) === 'Unconfined';
  const containers = containersOf(spec).filter((container) => profileType(contextOf(container)) === 'Unconfined');
  return say(
    pod || containers.length > 0,
    'seccompProfile',
    () => `${whoDoes(pod, containers)} must not set securityContext.seccompProfile.type to "Unconfined"`,
  );
};

const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  ...[
    'ip_local_port_range',
    'ip_unprivileged_port_start',
    'tcp_syncookies',
    'ping_group_range',
    'ip_local_reserved_ports',
    'tcp_keepalive_time',
    'tcp_fin_timeout',
    'tcp_keepalive_intvl',
    'tcp_keepalive_probes',
    'tcp_rmem',
    'tcp_wmem',
  ].map((name) => `net.ipv4.${name}`),
]);

const sysctls: Check = (spec) => {
  const names = list(spec.securityContext?.sysctls)
    .map(({name}) => name)
    .filter((name) => !safeSysctls.has(name));
  return say(names.length > 0, 'forbidden sysctls', () => names.join(', '));
};

const windowsHostProcess: Check = (spec) => {
  const pod = spec.securityContext?.windowsOptions?.hostProcess === true;
  const containers = containersOf(spec).filter((container) => contextOf(container).windowsOptions?.hostProcess === true);
  return say(
    pod || containers.length > 0,
    'hostProcess',
    () => `${whoDoes(pod, containers)} must not set securityContext.windowsOptions.hostProcess=true`,
  );
};

/** Of no meaning on Windows. */
const onLinux =
  (check: Check): Check =>
  (spec) =>
    spec.os?.name === 'windows' ? undefined : check(spec);

const escalation: Check = (spec) => {
  const containers = containersOf(spec).filter((container) => contextOf(container).allowPrivilegeEscalation !== false);
  return say(
    containers.length > 0,
    'allowPrivilegeEscalation != false',
    () => `${named(containers)} must set securityContext.allowPrivilegeEscalation=false`,
  );
};

const capabilitiesRestricted: Check = (spec) => {
  const containers = containersOf(spec);
  const keeping = containers.filter((container) => !list(contextOf(container).capabilities?.drop).includes('ALL'));
  const isBad = (name: string): boolean => name !== 'NET_BIND_SERVICE';
  const adding = containers.filter((container) => added(container).some(isBad));
  const names = unique(adding.flatMap(added).filter(isBad)).sort();
  const details = [
    ...(keeping.length ? [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length ? [`${named(adding)} must not include ${quoted(names)} in securityContext.capabilities.add`] : []),
  ];
  return say(details.length > 0, 'unrestricted capabilities', () => details.join('; '));
};

const safeVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
  'image',
]);

const restrictedVolumes: Check = (spec) => {
  const typeOf = (volume: Part): string | undefined => entries(volume).find(([field, value]) => field !== 'name' && value)?.[0];
  const bad = list(spec.volumes).filter((volume) => !safeVolumes.has(typeOf(volume) ?? ''));
  const types = unique(bad.map((volume) => typeOf(volume) ?? 'unknown')).sort();
  return say(
    bad.length > 0,
    'restricted volume types',
    () =>
      `${plural(bad.length, 'volume')} ${quoted(bad.map(({name}) => name))} ${plural(bad.length, 'uses', 'use')} restricted volume ${plural(types.length, 'type')} ${quoted(types)}`,
  );
};

const runAsNonRoot: Check = (spec) => {
  const ofPod = spec.securityContext?.runAsNonRoot;
  const containers = containersOf(spec);
  const explicit = containers.filter((container) => contextOf(container).runAsNonRoot === false);
  const implicit = containers.filter((container) => contextOf(container).runAsNonRoot === undefined);
  const reason = 'runAsNonRoot != true';
  const podIsBad = ofPod === false && implicit.length > 0;
  if (podIsBad || explicit.length)
    return {reason, detail: `${whoDoes(podIsBad || ofPod === false, explicit)} must not set securityContext.runAsNonRoot=false`};
  return say(
    ofPod === undefined && implicit.length > 0,
    reason,
    () => `pod or ${named(implicit)} must set securityContext.runAsNonRoot=true`,
  );
};

const runAsUser: Check = (spec) => {
  const pod = spec.securityContext?.runAsUser === 0;
  const containers = containersOf(spec).filter((container) => contextOf(container).runAsUser === 0);
  return say(pod || containers.length > 0, 'runAsUser=0', () => `${whoDoes(pod, containers)} must not set runAsUser=0`);
};

const seccompRestricted: Check = (spec) => {
  const isSafe = (type: string | undefined): boolean => type === 'RuntimeDefault' || type === 'Localhost';
  const ofPod = profileType(spec.securityContext);
  const containers = containersOf(spec);
  const explicit = containers.filter((container) => {
    const type = profileType(contextOf(container));
    return type !== undefined && !isSafe(type);
  });
  const podIsBad = ofPod !== undefined && !isSafe(ofPod);
  const reason = 'seccompProfile';
  if (podIsBad || explicit.length) {
    const types = unique([...(podIsBad ? [ofPod] : []), ...explicit.map((container) => profileType(contextOf(container))!)]).sort();
    return {reason, detail: `${whoDoes(podIsBad, explicit)} must not set securityContext.seccompProfile.type to ${quoted(types)}`};
  }
  const implicit = containers.filter((container) => profileType(contextOf(container)) === undefined);
  return say(
    ofPod === undefined && implicit.length > 0,
    reason,
    () => `pod or ${named(implicit)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  );
};

export const checks: Record<'baseline' | 'restricted', readonly Check[]> = {
  baseline: [
    appArmor,
    capabilitiesBaseline,
    hostNamespaces,
    hostPathVolumes,
    hostPorts,
    probeHosts,
    privileged,
    procMount(false),
    seLinuxOptions,
    seccompBaseline,
    sysctls,
    windowsHostProcess,
  ],
  // What restricted says more strictly takes the place of baseline's; the rest of baseline comes first.
  restricted: [
    appArmor,
    hostNamespaces,
    hostPorts,
    probeHosts,
    privileged,
    seLinuxOptions,
    sysctls,
    windowsHostProcess,
    onLinux(escalation),
    onLinux(capabilitiesRestricted),
    procMount(true),
    restrictedVolumes,
    runAsNonRoot,
    runAsUser,
    onLinux(seccompRestricted),
  ],
};
