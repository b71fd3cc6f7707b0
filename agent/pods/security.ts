/** From security contexts to what the runtime is told. Pure; what an image says about its user is an argument. */
import type {LinuxContainerSecurity, LinuxSandboxConfig, NamespaceOptions, SecurityProfile, SeLinux} from '../runtime/runtime.ts';
import {namespaceMode} from '../runtime/runtime.ts';
import {ConfigError} from './environment.ts';
import {type Container, fullName, type Pod, type PodSecurityContext, type Profile, type SecurityContext} from './pod.ts';

export interface SecuritySettings {
  /** Where Localhost profiles are. */
  seccompRoot: string;
  seccompDefault: boolean;
}

export interface ImageUser {
  uid: number | undefined;
  name: string;
}

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export function namespacesOf({spec}: Pod, targetId?: string): NamespaceOptions {
  const {pod, container, node, target} = namespaceMode;
  const own: NamespaceOptions = {
    network: spec.hostNetwork ? node : pod,
    pid: spec.hostPID ? node : spec.shareProcessNamespace ? pod : container,
    ipc: spec.hostIPC ? node : pod,
  };
  return targetId === undefined ? own : {...own, pid: target, targetId};
}

export function sandboxSecurity(pod: Pod, settings: SecuritySettings): LinuxSandboxConfig['securityContext'] {
  const context = pod.spec.securityContext ?? {};
  const selinux = seLinux(context.seLinuxOptions);
  const groups = groupsOf(context);
  return {
    namespaceOptions: namespacesOf(pod),
    privileged: pod.spec.containers.concat(pod.spec.initContainers ?? []).some(({securityContext}) => securityContext?.privileged),
    seccomp: seccompOf(context.seccompProfile, settings),
    ...(selinux && {selinuxOptions: selinux}),
    ...(context.runAsUser !== undefined && {runAsUser: {value: context.runAsUser}}),
    ...(context.runAsGroup !== undefined && {runAsGroup: {value: context.runAsGroup}}),
    ...(groups.length > 0 && {supplementalGroups: groups}),
  };
}

const groupsOf = ({supplementalGroups = [], fsGroup}: PodSecurityContext): number[] =>
  fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup];

/** @throws ConfigError when the container must not run as who it would run as */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image: ImageUser,
  settings: SecuritySettings,
  targetId?: string,
): LinuxContainerSecurity {
  const ofPod = pod.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const runAsUser = own.runAsUser ?? ofPod.runAsUser;
  const runAsGroup = own.runAsGroup ?? ofPod.runAsGroup;
  if (own.runAsNonRoot ?? ofPod.runAsNonRoot) refuseRoot(pod, container, runAsUser, image);
  const privileged = own.privileged === true;
  const selinux = seLinux(own.seLinuxOptions ?? ofPod.seLinuxOptions);
  const groups = groupsOf(ofPod);
  const appArmor = profileOf(own.appArmorProfile ?? ofPod.appArmorProfile);
  const unmasked = own.procMount === 'Unmasked' || privileged;
  return {
    privileged,
    namespaceOptions: namespacesOf(pod, targetId),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: noNewPrivileges(own),
    seccomp: privileged ? {profileType: 1} : seccompOf(own.seccompProfile ?? ofPod.seccompProfile, settings),
    ...(own.capabilities && {
      capabilities: {addCapabilities: own.capabilities.add ?? [], dropCapabilities: own.capabilities.drop ?? []},
    }),
    ...(selinux && {selinuxOptions: selinux}),
    ...(runAsUser !== undefined ? {runAsUser: {value: runAsUser}} : userOf(image)),
    ...(runAsGroup !== undefined && {runAsGroup: {value: runAsGroup}}),
    ...(groups.length > 0 && {supplementalGroups: groups}),
    ...(ofPod.supplementalGroupsPolicy === 'Strict' && {supplementalGroupsPolicy: 1}),
    ...(!unmasked && {maskedPaths, readonlyPaths}),
    ...(appArmor && {apparmor: appArmor, ...(appArmor.profileType === 1 && {apparmorProfile: 'unconfined'})}),
  };
}

/** As the image says, so that a group of the pod's own goes with it. */
function userOf({uid, name}: ImageUser): Pick<LinuxContainerSecurity, 'runAsUser' | 'runAsUsername'> {
  if (uid !== undefined) return {runAsUser: {value: uid}};
  return name === '' ? {} : {runAsUsername: name};
}

function refuseRoot(pod: Pod, {name}: Container, runAsUser: number | undefined, image: ImageUser): void {
  const whose = `(pod: ${JSON.stringify(fullName(pod))}, container: ${name})`;
  if (runAsUser === 0) throw new ConfigError(`container's runAsUser breaks non-root policy ${whose}`);
  if (runAsUser !== undefined) return;
  if (image.uid === 0 || (image.uid === undefined && image.name === ''))
    throw new ConfigError(`container has runAsNonRoot and image will run as root ${whose}`);
  if (image.uid === undefined)
    throw new ConfigError(
      `container has runAsNonRoot and image has non-numeric user (${image.name}), cannot verify user is non-root ${whose}`,
    );
}

function noNewPrivileges({allowPrivilegeEscalation, privileged, capabilities}: SecurityContext): boolean {
  if (allowPrivilegeEscalation !== false) return false;
  return !privileged && !capabilities?.add?.includes('CAP_SYS_ADMIN');
}

function seccompOf(profile: Profile | undefined, {seccompRoot, seccompDefault}: SecuritySettings): SecurityProfile {
  if (profile?.type === 'Localhost') return {profileType: 2, localhostRef: `${seccompRoot}/${profile.localhostProfile}`};
  return {profileType: profile?.type === 'RuntimeDefault' || (!profile && seccompDefault) ? 0 : 1};
}

function profileOf(profile: Profile | undefined): SecurityProfile | undefined {
  if (!profile) return undefined;
  if (profile.type === 'Localhost') return {profileType: 2, localhostRef: profile.localhostProfile ?? ''};
  return {profileType: profile.type === 'Unconfined' ? 1 : 0};
}

const seLinux = (options: Record<string, string> | undefined): SeLinux | undefined =>
  options && {user: options.user ?? '', role: options.role ?? '', type: options.type ?? '', level: options.level ?? ''};
