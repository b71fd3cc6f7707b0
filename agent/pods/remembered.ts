/**
 * What the API was last told of a container that still runs, as the runtime would tell it: a new agent need not ask a hundred times for what
 * it knows. Only what cannot have changed since.
 */
import {type Container, type ContainerStatus, containerState} from '../runtime/runtime.ts';
import type {Pod, ContainerStatus as Told} from './pod.ts';

export interface Remembered {
  status(container: Container): ContainerStatus | undefined;
  /** Of the sandbox that these containers lie in. */
  ips(sandboxId: string, containers: readonly Container[]): string[] | undefined;
}

export function remember({status: told}: Pod): Remembered {
  const all: Told[] = [
    ...(told?.initContainerStatuses ?? []),
    ...(told?.containerStatuses ?? []),
    ...(told?.ephemeralContainerStatuses ?? []),
  ];
  const status = (container: Container): ContainerStatus | undefined => {
    const {id, metadata, createdAt, image, imageRef, state} = container;
    if (state !== containerState.running) return undefined;
    const own = all.find(({containerID}) => containerID?.endsWith(`://${id}`));
    const startedAt = Date.parse(own?.state.running?.startedAt ?? '') * 1e6;
    if (Number.isNaN(startedAt)) return undefined;
    return {
      ...{id, metadata, state, createdAt, startedAt, image, imageRef: own!.imageID || imageRef},
      ...{finishedAt: 0, exitCode: 0, reason: '', message: '', labels: {}, annotations: {}, logPath: ''},
    };
  };
  return {
    status,
    // A status that names a container of the sandbox was written when the sandbox had its address.
    ips: (sandboxId, containers) =>
      told?.podIPs?.length && containers.some((container) => container.podSandboxId === sandboxId && status(container))
        ? told.podIPs.map(({ip}) => ip)
        : undefined,
  };
}
