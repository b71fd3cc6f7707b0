/** How a pod's containers end: killed by us or by themselves, what they leave to be read, and which of the dead are kept. */
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {superfluous} from './dead-containers.ts';
import {Kill} from './kill.ts';
import {logDirectory} from './names.ts';
import {hasExited, type Instance, isRunning} from './plan.ts';
import {isSidecar} from './pod.ts';
import {bounded} from './seconds.ts';
import {messageFileOf} from './start.ts';
import type {Subject} from './subject.ts';
import {terminationMessage} from './termination-message.ts';

/** The runtime tells of an exit before its own answer shows it. */
const looksMs = [5, 10, 20, 40, 80, 160, 320, 640, 1000];

export class Ends {
  readonly #subject: Subject;
  readonly #changed: () => void;
  readonly #kills = new Map<string, Kill>();
  /** Termination messages by container id. */
  readonly messages = new Map<string, string>();

  constructor(subject: Subject, changed: () => void) {
    this.#subject = subject;
    this.#changed = changed;
  }

  isKilling(id: string): boolean {
    return this.#kills.has(id);
  }

  /** A second time with less grace shortens the first. */
  kill(instance: Instance, message: string, givenSeconds: number, turn?: Promise<unknown>): Kill {
    const graceSeconds = bounded(givenSeconds);
    const known = this.#kills.get(instance.id);
    if (known) {
      known.shorten(graceSeconds);
      return known;
    }
    const {context, pod, view} = this.#subject;
    const ip = view.sandboxes[0]?.ips[0] ?? context.hostIps()[0];
    const kill = new Kill(context, pod, instance, ip, message, graceSeconds, () => this.#settle(instance.id), turn);
    this.#kills.set(instance.id, kill);
    return kill;
  }

  shorten(graceSeconds: number): void {
    for (const kill of this.#kills.values()) kill.shorten(graceSeconds);
  }

  async #settle(id: string): Promise<void> {
    const {view} = this.#subject;
    await view.refresh(id).catch(() => {});
    this.#kills.delete(id);
    await this.note(view.find(id));
    this.#changed();
  }

  /** The runtime says so; its own answers may lag. Whether there is anything new to say. */
  async exited(id: string): Promise<boolean> {
    const {view} = this.#subject;
    // Who kills it looks as soon as the runtime has answered.
    if (this.#kills.get(id)?.isStopping) return false;
    for (const delay of looksMs) {
      await view.refresh(id).catch(() => {});
      if (!isRunning(view.find(id))) break;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
    await this.note(view.find(id));
    this.#kills.get(id)?.ended();
    return true;
  }

  /** What it left behind is read before it can be removed. */
  async note(instance: Instance | undefined): Promise<void> {
    if (!hasExited(instance)) return;
    const {context, pod, uid} = this.#subject;
    context.prober.forget(instance.id);
    if (this.messages.has(instance.id)) return;
    const file = messageFileOf(context.volumes.folderOf(uid), instance.name, instance.notes.restarts);
    const log = join(logDirectory(context.settings.logRoot, pod.metadata), instance.name, `${instance.notes.restarts}.log`);
    this.messages.set(instance.id, await terminationMessage(file, instance.notes.messagePolicy, instance.status.exitCode, log));
  }

  /** App containers at once, then sidecars one by one, the last to start first: all within one grace. */
  async stopAll(graceSeconds: number): Promise<void> {
    const {pod, view} = this.#subject;
    const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({name}) => name);
    const running = view.running();
    const stop = (which: (instance: Instance) => boolean, turn?: Promise<unknown>) =>
      running.filter(which).map((instance) => this.kill(instance, `Stopping container ${instance.name}`, graceSeconds, turn).done);
    let before: Promise<unknown> = Promise.all(stop(({name}) => !sidecars.includes(name)));
    // Their hooks run at once, their signals wait.
    for (const name of sidecars.reverse()) {
      const turn = before;
      before = Promise.all([turn, ...stop((instance) => instance.name === name, turn)]);
    }
    await before;
    // A kill that was under way before may still be settling what it saw.
    await Promise.all([...this.#kills.values()].map(({done}) => done));
  }

  /** Of a container that has just been started again. How many there are on the node is looked at now and then (dead-containers.ts). */
  async dropOld(name: string): Promise<void> {
    const {context, view} = this.#subject;
    const own = {...context.settings.dead, total: -1};
    for (const instance of superfluous([view.instances.get(name) ?? []], own, context.clock.now())) await this.remove(instance);
  }

  async remove(instance: Instance): Promise<void> {
    const {context, pod, view} = this.#subject;
    try {
      await context.runtime.removeContainer(instance.id);
      view.forget(instance.id);
      this.messages.delete(instance.id);
      const folder = join(logDirectory(context.settings.logRoot, pod.metadata), instance.name);
      await rm(join(folder, `${instance.notes.restarts}.log`), {force: true});
    } catch (error) {
      context.log.warn(`cannot remove container ${instance.id}: ${(error as Error).message}`);
    }
  }
}
