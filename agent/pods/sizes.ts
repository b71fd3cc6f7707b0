/**
 * What each container of a pod may have: allocated is what the node has agreed to, actuated what the runtime was last told. Both differ from
 * the specification while a resize is under way. They outlive the agent in the pod's folder, and in the notes of each container for those that
 * were never resized.
 */
import {readFile, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {compareQuantity} from '../../shared/schema/quantity.ts';
import type {Instance} from './plan.ts';
import {type Container, isSidecar, type Pod, type ResourceRequirements, withContainers} from './pod.ts';

/** The others cannot be changed in place. */
export const resizable = ['cpu', 'memory'] as const;
export type Resizable = (typeof resizable)[number];

const fileName = 'resources.json';

/** Those that run as long as the pod does. */
export const resizableContainers = ({spec}: Pod): Container[] => [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers];

export class Sizes {
  readonly #file: string;
  #allocated = new Map<string, ResourceRequirements>();
  #actuated = new Map<string, ResourceRequirements>();

  constructor(podFolder: string) {
    this.#file = join(podFolder, fileName);
  }

  /** What a former agent agreed to; nothing, where it was never asked. */
  async load(): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => '{}');
    const {allocated = {}, actuated = {}} = parse(text);
    this.#allocated = new Map(Object.entries(allocated));
    this.#actuated = new Map(Object.entries(actuated));
  }

  /** Beside the file and then in its place: half of it would be read as nothing. */
  async save(): Promise<void> {
    const text = JSON.stringify({allocated: Object.fromEntries(this.#allocated), actuated: Object.fromEntries(this.#actuated)});
    await writeFile(`${this.#file}.next`, text, {mode: 0o600});
    await rename(`${this.#file}.next`, this.#file);
  }

  allocate(pod: Pod): void {
    for (const {name, resources} of resizableContainers(pod)) this.#allocated.set(name, resources ?? {});
  }

  actuated(instance: Instance, {name, resources}: Container): ResourceRequirements {
    return this.#actuated.get(instance.id) ?? instance.notes.resources ?? this.#allocated.get(name) ?? resources ?? {};
  }

  setActuated({id}: Instance, resources: ResourceRequirements): void {
    this.#actuated.set(id, resources);
  }

  forget(isThere: (id: string) => boolean): void {
    for (const id of this.#actuated.keys()) if (!isThere(id)) this.#actuated.delete(id);
  }

  /** The pod with what it has been given in place of what it asks for. */
  applyTo(pod: Pod, newest: (name: string) => Instance | undefined): Pod {
    const given = (container: Container): ResourceRequirements | undefined =>
      this.#allocated.get(container.name) ?? newest(container.name)?.notes.resources;
    const changed = resizableContainers(pod).filter(
      (container) => !isSameSize(given(container) ?? container.resources, container.resources),
    );
    if (changed.length === 0) return pod;
    return withContainers(pod, (container) => (changed.includes(container) ? {...container, resources: given(container)!} : container));
  }
}

export const isSameSize = (a: ResourceRequirements | undefined, b: ResourceRequirements | undefined): boolean =>
  resizable.every((name) => compare(a, b, name) === 0);

/** 0: both its request and its limit are the same; else whether it grows (1) or shrinks (-1) from `b` to `a`, the limit first. */
export function compare(a: ResourceRequirements | undefined, b: ResourceRequirements | undefined, name: Resizable): number {
  const limits = compareQuantity(a?.limits?.[name] ?? '0', b?.limits?.[name] ?? '0');
  return limits !== 0 ? limits : compareQuantity(a?.requests?.[name] ?? '0', b?.requests?.[name] ?? '0');
}

/** Only what can be changed: a container's note is not the place for more. */
export function sizeOf({resources}: Container): ResourceRequirements {
  const pick = (list: Record<string, string> | undefined) =>
    Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => (resizable as readonly string[]).includes(name)));
  return {requests: pick(resources?.requests), limits: pick(resources?.limits)};
}

function parse(text: string): {allocated?: Record<string, ResourceRequirements>; actuated?: Record<string, ResourceRequirements>} {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
