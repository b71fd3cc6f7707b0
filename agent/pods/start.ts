/** Starting one container of a pod that has a sandbox: image, environment, mounts, create, start, postStart. */
import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {ImageError} from '../images/puller.ts';
import type {ContainerStatus, Image, Mount, SandboxConfig} from '../runtime/runtime.ts';
import {containerState} from '../runtime/runtime.ts';
import {containerConfig, propagationOf} from './configs.ts';
import type {PodContext} from './context.ts';
import {ConfigError, environmentOf} from './environment.ts';
import {expand, unknownNames} from './expand.ts';
import {runHook} from './hooks.ts';
import {logDirectory, readNotes} from './names.ts';
import type {Plan, SandboxView} from './plan.ts';
import {type Container, fieldPathOf, type Pod, type Volume} from './pod.ts';
import {linuxResources} from './resources.ts';
import type {PodView} from './view.ts';

type Start = Plan['start'][number];

export interface StartInput {
  pod: Pod;
  sandbox: SandboxView;
  sandboxConfig: SandboxConfig;
  view: PodView;
  /** Host paths by volume. */
  volumes: ReadonlyMap<string, string>;
  /** Aborted when the pod is to go. */
  signal: AbortSignal;
}

/** A runtime may repeat all that it was given; a status has to stay one that the API takes. */
const maxMessageLength = 8192;

/** It does not run, and this is what its status says; tried again at `retryAt`, or when something changes. */
export class StartError extends Error {
  readonly reason: string;
  readonly retryAt: number | undefined;

  constructor(reason: string, message: string, retryAt?: number) {
    super(message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}...` : message);
    this.reason = reason;
    this.retryAt = retryAt;
  }
}

/** postStart failed: the container has to be killed. */
export class PostStartError extends Error {
  readonly containerId: string;

  constructor(containerId: string, cause: unknown) {
    super('FailedPostStartHook', {cause});
    this.containerId = containerId;
  }
}

const retryMs = 10_000;

/** Resolves with the container's id when it runs. @throws StartError, PostStartError, the signal's reason */
export async function startContainer(context: PodContext, start: Start, input: StartInput): Promise<string> {
  const {runtime, clock, log} = context;
  const {pod, sandbox, view, signal} = input;
  const {container, kind, restarts} = start;
  const say = sayAbout(context, pod, container);
  const image = await pull(context, container, input, say);
  signal.throwIfAborted();

  let id: string;
  try {
    const [config] = await Promise.all([
      configOf(context, start, image, input),
      mkdir(join(logDirectory(context.settings.logRoot, pod.metadata), container.name), {recursive: true}),
    ]);
    signal.throwIfAborted();
    id = await runtime.createContainer(sandbox.id, config, input.sandboxConfig);
    view.add({
      id,
      name: container.name,
      sandboxId: sandbox.id,
      notes: readNotes(config.annotations),
      status: unstarted(id, container.name, restarts, clock.now()),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const {message} = error as Error;
    say('Warning', 'Failed', `Error: ${message}`);
    throw new StartError(
      error instanceof ConfigError ? 'CreateContainerConfigError' : 'CreateContainerError',
      message,
      clock.now() + retryMs,
    );
  }
  say('Normal', 'Created', 'Container created');
  try {
    await runtime.startContainer(id);
  } catch (error) {
    const {message} = error as Error;
    say('Warning', 'Failed', `Error: ${message}`);
    await view.refresh(id);
    const left = view.find(id);
    if (left?.status.state === containerState.exited) return id;
    throw new StartError('RunContainerError', message, clock.now() + retryMs);
  }
  say('Normal', 'Started', 'Container started');
  await view.refresh(id);
  if (kind !== 'init' && container.lifecycle?.postStart) await postStart(context, container, id, input);
  log.debug(`${pod.metadata.namespace}/${pod.metadata.name}: ${container.name} started as ${id}`);
  return id;
}

/** Until the runtime is asked. */
const unstarted = (id: string, name: string, attempt: number, nowMs: number): ContainerStatus => ({
  id,
  metadata: {name, attempt},
  state: containerState.created,
  createdAt: nowMs * 1e6,
  startedAt: 0,
  finishedAt: 0,
  exitCode: 0,
  image: {image: ''},
  imageRef: '',
  reason: '',
  message: '',
  labels: {},
  annotations: {},
  logPath: '',
});

async function postStart(
  context: PodContext,
  container: Container,
  containerId: string,
  {pod, sandbox, signal}: StartInput,
): Promise<void> {
  try {
    const target = {containerId, ip: sandbox.ips[0] ?? context.hostIps()[0], ports: container.ports ?? []};
    await runHook(context.runtime, container.lifecycle!.postStart!, target, 0, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    context.log.warn(`${pod.metadata.namespace}/${pod.metadata.name}: postStart of ${container.name}: ${(error as Error).message}`);
    sayAbout(context, pod, container)('Warning', 'FailedPostStartHook', 'PostStartHook failed');
    throw new PostStartError(containerId, error);
  }
}

type Say = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

export function sayAbout({recorder}: PodContext, pod: Pod, container: Pick<Container, 'name'>): Say {
  const {name, namespace, uid, resourceVersion} = pod.metadata;
  const about = {kind: 'Pod', name, namespace, uid, ...(resourceVersion && {resourceVersion}), fieldPath: fieldPathOf(pod, container.name)};
  return (type, reason, message) => recorder.event(about, type, reason, message);
}

async function pull(context: PodContext, container: Container, {pod, sandboxConfig}: StartInput, say: Say): Promise<Image> {
  try {
    return await context.puller.ensure({
      image: container.image,
      policy: container.imagePullPolicy ?? 'IfNotPresent',
      backoffKey: `${pod.metadata.uid}/${container.image}`,
      secrets: () => context.pullSecrets(pod),
      sandbox: sandboxConfig,
      say,
    });
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    say('Warning', 'Failed', `Error: ${error.reason}`);
    throw new StartError(error.reason, error.message, error.retryAt);
  }
}

async function configOf(context: PodContext, {container, kind, restarts}: Start, image: Image, input: StartInput) {
  const {pod, sandbox, view} = input;
  const {references, settings} = context;
  const services = await context.serviceVariables(pod.metadata.namespace, pod.spec.enableServiceLinks !== false);
  const ips = pod.spec.hostNetwork ? context.hostIps() : sandbox.ips;
  const say = sayAbout(context, pod, container);
  const environment = await environmentOf(pod, container, {
    references,
    services,
    hostIps: context.hostIps(),
    podIps: ips,
    allocatable: context.allocatable(),
    onSkipped: (from, keys) =>
      say(
        'Warning',
        'InvalidEnvironmentVariableNames',
        `Keys [${keys.join(', ')}] from the EnvFrom ${from} were skipped since they are considered invalid environment variable names.`,
      ),
  });
  const target = container.targetContainerName ? view.instances.get(container.targetContainerName)?.[0]?.id : undefined;
  return containerConfig(pod, container, {
    kind,
    restarts,
    imageRef: image.id,
    imageUser: {uid: image.uid?.value, name: image.username},
    environment,
    mounts: await mountsOf(context, container, restarts, environment, input),
    resources: linuxResources(pod, container, settings.resources),
    security: settings.security,
    ...(target && {targetId: target}),
  });
}

const readOnlyKinds = ['configMap', 'secret', 'downwardAPI', 'projected'] as const;
const isReadOnly = (volume: Volume | undefined): boolean => readOnlyKinds.some((kind) => volume?.[kind]);

async function mountsOf(
  context: PodContext,
  container: Container,
  restarts: number,
  environment: ReadonlyMap<string, string>,
  {pod, volumes}: StartInput,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const {name, mountPath, readOnly = false, subPath, subPathExpr, mountPropagation} = mount;
    const volume = pod.spec.volumes?.find((entry) => entry.name === name);
    let hostPath = volumes.get(name);
    if (hostPath === undefined)
      throw new ConfigError(`cannot find volume ${JSON.stringify(name)} to mount into container ${JSON.stringify(container.name)}`);
    const readonly = readOnly || isReadOnly(volume);
    const part = subPathExpr ? expandSubPath(subPathExpr, environment) : subPath;
    if (part)
      hostPath = await context.volumes.subpath(pod, container.name, index, hostPath, part, readonly).catch((error: Error) => {
        throw new ConfigError(
          `failed to prepare subPath for volumeMount ${JSON.stringify(name)} of container ${JSON.stringify(container.name)}: ${error.message}`,
        );
      });
    const containerPath = mountPath.startsWith('/') ? mountPath : `/${mountPath}`;
    mounts.push({containerPath, hostPath, readonly, propagation: propagationOf(mountPropagation)});
  }
  const has = (path: string) => mounts.some(({containerPath}) => containerPath === path);
  const folder = context.volumes.folderOf(pod.metadata.uid);
  if (!has('/etc/hosts'))
    mounts.push({
      containerPath: '/etc/hosts',
      hostPath: join(folder, 'etc-hosts'),
      readonly: container.securityContext?.readOnlyRootFilesystem === true,
    });
  const messagePath = container.terminationMessagePath ?? '/dev/termination-log';
  if (messagePath) mounts.push({containerPath: messagePath, hostPath: await messageFile(folder, container.name, restarts)});
  return mounts;
}

function expandSubPath(text: string, environment: ReadonlyMap<string, string>): string {
  const unknown = unknownNames(text, environment);
  if (unknown.length > 0)
    throw new ConfigError(`failed to expand subPath for volumeMount: missing value for ${JSON.stringify(unknown[0])}`);
  return expand(text, environment);
}

export const messageFileOf = (folder: string, container: string, restarts: number): string =>
  join(folder, 'containers', container, `${restarts}.message`);

/** Anyone may write to it: who runs in the container is not known to be root. */
async function messageFile(folder: string, container: string, restarts: number): Promise<string> {
  const file = messageFileOf(folder, container, restarts);
  await mkdir(join(folder, 'containers', container), {recursive: true, mode: 0o750});
  await writeFile(file, '', {mode: 0o666});
  await chmod(file, 0o666);
  return file;
}
