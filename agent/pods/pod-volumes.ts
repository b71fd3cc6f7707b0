/** A pod's volumes over time: made before its sandbox, their payloads brought up to date while it runs. */
import {mkdir} from 'node:fs/promises';
import type {PayloadInput} from '../volumes/payload.ts';
import {fullName} from './pod.ts';
import type {Subject} from './subject.ts';

export class PodVolumes {
  readonly #subject: Subject;
  #paths: Map<string, string> | undefined;
  #isStale = false;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** What stands in them may be out of date. */
  touch(): void {
    this.#isStale = true;
  }

  /** Host paths by volume. @throws VolumeError for one that cannot be made; one that cannot be refreshed stays as it is */
  async need(): Promise<ReadonlyMap<string, string>> {
    const {context, pod, uid} = this.#subject;
    const {volumes, references} = context;
    if (this.#paths) {
      await this.#refresh();
      return this.#paths;
    }
    references.follow(pod);
    this.#isStale = false;
    await mkdir(volumes.folderOf(uid), {recursive: true, mode: 0o750});
    this.#paths = await volumes.prepare(pod, this.#input());
    return this.#paths;
  }

  async #refresh(): Promise<void> {
    const {context, pod} = this.#subject;
    if (!this.#isStale || !pod.spec.volumes?.length) return;
    this.#isStale = false;
    await context.volumes.refresh(pod, this.#input()).catch((error) => context.log.warn(`${fullName(pod)}: ${error.message}`));
  }

  #input(): PayloadInput {
    const {context, pod, view} = this.#subject;
    const {references, token, hostIps, allocatable} = context;
    const podIps = pod.spec.hostNetwork ? hostIps() : (view.sandboxes[0]?.ips ?? []);
    return {references, token, hostIps: hostIps(), podIps, allocatable: allocatable()};
  }
}
