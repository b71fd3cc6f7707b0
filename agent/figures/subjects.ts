/** Whose figures are told: the pods that run here and their containers, and where the kernel and the disk know them. */
import {dirname} from 'node:path';
import type {Cgroups, Whereabouts} from '../cgroups/cgroups.ts';
import type {PodManager} from '../pods/manager.ts';
import {isRunning} from '../pods/plan.ts';

export interface PodSubject {
  name: string;
  namespace: string;
  uid: string;
  /** As its status has it. */
  startedAt: string;
  hostNetwork: boolean;
  /** Absent where the agent keeps no cgroups. */
  cgroup: Whereabouts | undefined;
  sandboxId: string | undefined;
  containers: readonly ContainerSubject[];
}

export interface ContainerSubject {
  name: string;
  id: string;
  image: string;
  startedAtMs: number;
  logFolder: string | undefined;
}

export const subjectsOf = (manager: PodManager, cgroups: Pick<Cgroups, 'where'>): PodSubject[] =>
  [...manager.workers()].flatMap(({pod, uid, view}) => {
    // Of a name that was started again only the one that runs.
    const running = [...view.instances.values()].flatMap(([newest]) => (newest && isRunning(newest) ? [newest] : []));
    if (running.length === 0) return [];
    const {name, namespace} = pod.metadata;
    return [
      {
        name,
        namespace,
        uid,
        startedAt: pod.status?.startTime ?? '',
        hostNetwork: pod.spec.hostNetwork === true,
        cgroup: cgroups.where(pod),
        sandboxId: view.sandboxes.find(({ready}) => ready)?.id,
        containers: running.map(({name: container, id, status}) => ({
          name: container,
          id,
          image: status.image.image,
          startedAtMs: status.startedAt / 1e6,
          logFolder: status.logPath ? dirname(status.logPath) : undefined,
        })),
      },
    ];
  });
