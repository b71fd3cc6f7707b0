/** From a pod to what the runtime is asked for: the sandbox's configuration and a container's. Pure; what had to be looked up is an argument. */
import {
  type ContainerConfig,
  type LinuxResources,
  type Mount,
  mountPropagation,
  protocolNumber,
  type SandboxConfig,
} from '../runtime/runtime.ts';
import {expand} from './expand.ts';
import {type ContainerKind, containerHash, label, logDirectory, podLabels, writeNotes} from './names.ts';
import {type DnsConfig, fullHostname, hostnameOf} from './network-files.ts';
import type {Container, Pod} from './pod.ts';
import {containerSecurity, type ImageUser, type SecuritySettings, sandboxSecurity} from './security.ts';
import {sizeOf} from './sizes.ts';

export interface SandboxInput {
  attempt: number;
  dns: DnsConfig;
  cgroupParent: string;
  logRoot: string;
  clusterDomain: string;
  security: SecuritySettings;
}

export function sandboxConfig(pod: Pod, input: SandboxInput): SandboxConfig {
  const {metadata, spec} = pod;
  const full = spec.setHostnameAsFQDN ? fullHostname(pod, input.clusterDomain) : undefined;
  const sysctls = Object.fromEntries((spec.securityContext?.sysctls ?? []).map(({name, value}) => [name.replaceAll('/', '.'), value]));
  return {
    metadata: {name: metadata.name, uid: metadata.uid, namespace: metadata.namespace, attempt: input.attempt},
    // With the host's network the host has its name already.
    ...(!spec.hostNetwork && {hostname: full ?? hostnameOf(pod)}),
    logDirectory: logDirectory(input.logRoot, metadata),
    dnsConfig: input.dns,
    portMappings: spec.hostNetwork ? [] : portMappings(spec.containers.concat(spec.initContainers ?? [])),
    labels: {...metadata.labels, ...podLabels(pod)},
    annotations: {...metadata.annotations},
    linux: {cgroupParent: input.cgroupParent, securityContext: sandboxSecurity(pod, input.security)!, sysctls},
  };
}

const portMappings = (containers: readonly Container[]): NonNullable<SandboxConfig['portMappings']> =>
  containers.flatMap(({ports = []}) =>
    ports
      .filter(({hostPort}) => hostPort)
      .map(({containerPort, hostPort, hostIP, protocol = 'TCP'}) => ({
        protocol: protocolNumber[protocol] ?? 0,
        containerPort,
        hostPort: hostPort!,
        ...(hostIP && {hostIp: hostIP}),
      })),
  );

export interface ContainerInput {
  kind: ContainerKind;
  restarts: number;
  /** The reference by digest that the image was found as. */
  imageRef: string;
  imageUser: ImageUser;
  environment: ReadonlyMap<string, string>;
  mounts: Mount[];
  resources: LinuxResources;
  security: SecuritySettings;
  targetId?: string;
}

export function containerConfig(pod: Pod, container: Container, input: ContainerInput): ContainerConfig {
  const {environment, kind, restarts} = input;
  const expandAll = (texts: readonly string[] = []): string[] => texts.map((text) => expand(text, environment));
  const own = container.name;
  return {
    metadata: {name: own, attempt: restarts},
    image: {image: input.imageRef, userSpecifiedImage: container.image},
    command: expandAll(container.command),
    args: expandAll(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...environment].map(([key, value]) => ({key, value: Buffer.from(value)})),
    mounts: input.mounts,
    labels: {...podLabels(pod), [label.container]: own},
    annotations: writeNotes({
      hash: containerHash(container),
      restarts,
      messagePath: container.terminationMessagePath ?? '/dev/termination-log',
      messagePolicy: container.terminationMessagePolicy ?? 'File',
      kind,
      graceSeconds: pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30,
      ...(container.lifecycle?.preStop && {preStop: container.lifecycle.preStop}),
      ports: (container.ports ?? []).map(({name, containerPort}) => ({...(name && {name}), containerPort})),
      ...(kind !== 'init' && kind !== 'ephemeral' && {resources: sizeOf(container)}),
    }),
    logPath: `${own}/${restarts}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: input.resources,
      securityContext: containerSecurity(pod, container, input.imageUser, input.security, input.targetId),
    },
  };
}

export const propagationOf = (name: string | undefined): number => mountPropagation[name ?? 'None'] ?? 0;
