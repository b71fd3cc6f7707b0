/** Taking away what a pod held on the node, in the order in which nothing is needed any more. Nothing here minds a second time. */
import {rm} from 'node:fs/promises';
import {logDirectory} from './names.ts';
import {fullName} from './pod.ts';
import {qosClass} from './resources.ts';
import type {Subject} from './subject.ts';

/** Network, volumes and cgroup of a pod whose containers have ended; resolves when its last status is told, too. */
export async function release({context, apiPod, pod, uid, view}: Subject, keepVolumes: boolean): Promise<void> {
  const {runtime, volumes, cgroups, references, status, starts, log} = context;
  const settled = apiPod ? status.settled(apiPod.metadata.uid) : Promise.resolve();
  for (const sandbox of view.sandboxes) {
    // A hundred at once would only wait for each other in the runtime.
    await starts.use(() => runtime.stopSandbox(sandbox.id));
    sandbox.ready = false;
  }
  references.unfollow(uid);
  await Promise.all([
    keepVolumes ? undefined : volumes.teardown(uid),
    // The runtime may still be clearing up below it; what cannot go yet is swept away later, nobody has to wait.
    cgroups.remove(uid, qosClass(pod)).catch((error) => log.debug(`cgroup: ${error.message}`)),
    settled,
  ]);
}

/** All that is left. Nobody waits for this any more; what fails here is found again as an orphan. */
export async function removeAll({context, pod, uid, view}: Subject): Promise<void> {
  const {runtime, volumes, cgroups, settings, starts, log} = context;
  try {
    for (const {id} of view.sandboxes) await starts.use(() => runtime.removeSandbox(id));
    await cgroups.clear(uid, qosClass(pod));
    await rm(logDirectory(settings.logRoot, pod.metadata), {recursive: true, force: true});
    // Last: by its folder a pod that was half removed is found again.
    await volumes.remove(uid);
  } catch (error) {
    log.warn(`${fullName(pod)}: ${(error as Error).message}`);
  }
}
