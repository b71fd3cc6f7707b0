/** What is known of one pod in the runtime: kept from events and from what the worker does itself, checked by an occasional list. */
import type {Container, ContainerStatus, Runtime, Sandbox} from '../runtime/runtime.ts';
import {containerState, sandboxReady} from '../runtime/runtime.ts';
import {label, readNotes} from './names.ts';
import type {Instance, Observed, SandboxView} from './plan.ts';
import type {Remembered} from './remembered.ts';

export class PodView implements Observed {
  readonly #runtime: Runtime;
  sandboxes: SandboxView[] = [];
  readonly instances = new Map<string, Instance[]>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  *all(): Iterable<Instance> {
    for (const list of this.instances.values()) yield* list;
  }

  find(id: string): Instance | undefined {
    for (const instance of this.all()) if (instance.id === id) return instance;
    return undefined;
  }

  /** Takes over what a list found. Whether anything is other than it was known. */
  async reconcile(sandboxes: readonly Sandbox[], containers: readonly Container[], remembered?: Remembered): Promise<boolean> {
    let changed = false;
    const known = new Map(this.sandboxes.map((sandbox) => [sandbox.id, sandbox]));
    const next: SandboxView[] = [];
    for (const {id, metadata, state} of [...sandboxes].sort(
      (a, b) => b.metadata.attempt - a.metadata.attempt || b.createdAt - a.createdAt,
    )) {
      const ready = state === sandboxReady;
      const before = known.get(id);
      if (before?.ready === ready) next.push(before);
      else {
        changed = true;
        const ask = async () => (await this.#runtime.sandboxStatus(id))?.ips ?? [];
        const ips = ready ? (remembered?.ips(id, containers) ?? (await ask())) : (before?.ips ?? []);
        next.push({id, attempt: metadata.attempt, ready, ips});
      }
    }
    changed ||= next.length !== this.sandboxes.length;
    this.sandboxes = next;
    const ids = new Set(containers.map(({id}) => id));
    for (const [name, list] of this.instances) {
      const left = list.filter(({id}) => ids.has(id));
      if (left.length === list.length) continue;
      changed = true;
      if (left.length > 0) this.instances.set(name, left);
      else this.instances.delete(name);
    }
    for (const container of containers)
      if (this.find(container.id)?.status.state !== container.state)
        changed = (await this.refresh(container.id, container, remembered?.status(container))) || changed;
    return changed;
  }

  /** Asks for one container again. Whether its state changed. `made`: what the worker knows of one that it has just made. */
  async refresh(
    id: string,
    made?: Pick<Container, 'podSandboxId' | 'labels' | 'annotations' | 'metadata'>,
    remembered?: ContainerStatus,
  ): Promise<boolean> {
    const status = remembered ?? (await this.#runtime.containerStatus(id));
    const known = this.find(id);
    if (!status) {
      if (known) this.#drop(known);
      return known !== undefined;
    }
    if (known) {
      const changed = known.status.state !== status.state;
      known.status = slim(status);
      return changed;
    }
    if (!made) return false;
    const name = made.labels[label.container] ?? made.metadata.name;
    this.add({id, name, sandboxId: made.podSandboxId, notes: readNotes(made.annotations), status: slim(status)});
    return true;
  }

  add(instance: Instance): void {
    const list = [...(this.instances.get(instance.name) ?? []).filter(({id}) => id !== instance.id), instance];
    // By count, not by time: the clock may have been set back between two of them.
    list.sort((a, b) => b.notes.restarts - a.notes.restarts || b.status.createdAt - a.status.createdAt);
    this.instances.set(instance.name, list);
  }

  #drop({id, name}: Instance): void {
    const left = (this.instances.get(name) ?? []).filter((other) => other.id !== id);
    if (left.length > 0) this.instances.set(name, left);
    else this.instances.delete(name);
  }

  forget(id: string): void {
    const instance = this.find(id);
    if (instance) this.#drop(instance);
  }

  running(): Instance[] {
    return [...this.all()].filter(({status}) => status.state === containerState.running);
  }
}

/** The notes are read once; a hundred pods need not keep their texts. */
const slim = (status: ContainerStatus): ContainerStatus => ({...status, labels: {}, annotations: {}});
