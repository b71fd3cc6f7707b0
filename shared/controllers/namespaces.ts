/**
 * Namespace termination: empties a namespace that is being deleted, says in its status what it waits for, and takes the last finalizer
 * off when nothing is left. Creators that asked before the namespace was marked are waited for: nothing appears behind its back.
 */

import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Client} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {isReason} from '../errors.ts';
import {groupVersion, type KubeObject} from '../object.ts';
import type {Catalogue} from '../registry/catalogue.ts';
import type {Creators} from '../registry/creators.ts';
import type {Resource} from '../registry/resource.ts';
import {Queue} from './queue.ts';

const finalizer = 'kubernetes';
/** How long until a namespace is looked at again whose objects wait for somebody else's finalizers. */
const retryMs = 1_000;

export interface Leftovers {
  /** How many objects remain, by qualified resource. */
  remaining: ReadonlyMap<string, number>;
  /** How many of them wait for each finalizer. */
  finalizers: ReadonlyMap<string, number>;
}

export class NamespaceController {
  readonly #client: Client;
  readonly #catalogue: Catalogue;
  readonly #queue: Queue;
  readonly #caches: ObjectCaches;
  readonly #clock: Clock;
  readonly #creators: Creators;

  constructor(options: {client: Client; catalogue: Catalogue; caches: ObjectCaches; creators: Creators; clock: Clock; log: Log}) {
    this.#client = options.client;
    this.#catalogue = options.catalogue;
    this.#caches = options.caches;
    this.#clock = options.clock;
    this.#creators = options.creators;
    this.#queue = new Queue(options.clock, options.log, 'namespaces', (name) => this.#reconcile(name));
  }

  async start(): Promise<void> {
    const cache = await this.#caches.of('namespaces');
    cache.onChange((key, object) => {
      if (object?.metadata.deletionTimestamp) this.#queue.add(key);
    });
  }

  /** For those who are not there when it is time to look again: all that are on their way out, now. */
  async lookAgain(): Promise<void> {
    for (const {metadata} of (await this.#caches.of('namespaces')).values())
      if (metadata.deletionTimestamp) this.#queue.add(metadata.name!);
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #reconcile(name: string): Promise<number | undefined> {
    const namespace = (await this.#caches.of('namespaces')).get(name);
    if (!namespace?.metadata.deletionTimestamp || !namespace.spec?.finalizers?.includes(finalizer)) return undefined;
    await this.#creators.settled(name);
    const leftovers = await this.#empty(name);
    if (leftovers.remaining.size > 0) {
      await this.#report(name, leftovers);
      return retryMs;
    }
    await this.#report(name, leftovers);
    await this.#finalize(name);
    return undefined;
  }

  async #empty(namespace: string): Promise<Leftovers> {
    const remaining = new Map<string, number>();
    const finalizers = new Map<string, number>();
    await Promise.all(
      [...this.#catalogue.stored()]
        .filter((resource) => resource.namespaced && resource.verbs.includes('delete'))
        .map(async (resource) => {
          const path = {groupVersion: groupVersion(resource), resource: resource.resource, namespace};
          let {items} = await this.#client.list(path);
          if (items.length === 0) return;
          await Promise.all(items.map((item) => this.#delete(resource, item)));
          ({items} = await this.#client.list(path));
          if (items.length > 0) remaining.set(qualifiedName(resource), items.length);
          for (const item of items)
            for (const each of item.metadata.finalizers ?? []) finalizers.set(each, (finalizers.get(each) ?? 0) + 1);
        }),
    );
    return {remaining, finalizers};
  }

  async #delete(resource: Resource, item: KubeObject): Promise<void> {
    if (item.metadata.deletionTimestamp && resource.resource !== 'pods') return;
    const path = {groupVersion: groupVersion(resource), resource: resource.resource, namespace: item.metadata.namespace};
    // No node answers for a pod that was never bound: it goes at once.
    const options = resource.resource === 'pods' && !item['spec']?.nodeName ? {gracePeriodSeconds: 0} : {propagationPolicy: 'Background'};
    try {
      await this.#client.delete(path, item.metadata.name!, options);
    } catch (error) {
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }

  async #report(name: string, leftovers: Leftovers): Promise<void> {
    const namespaces = {groupVersion: 'v1', resource: 'namespaces'};
    await this.#ignoringGone(async () => {
      const object = await this.#client.get(namespaces, name);
      const conditions = terminationConditions(leftovers, object['status']?.conditions ?? [], new Date(this.#clock.now()).toISOString());
      if (JSON.stringify(conditions) === JSON.stringify(object['status']?.conditions)) return;
      object['status'] = {...object['status'], conditions};
      await this.#client.update(namespaces, object, 'status');
    });
  }

  async #finalize(name: string): Promise<void> {
    const namespaces = {groupVersion: 'v1', resource: 'namespaces'};
    await this.#ignoringGone(async () => {
      const object = await this.#client.get(namespaces, name);
      // Somebody else finalized it meanwhile, and this one is another by the same name.
      if (!object.metadata.deletionTimestamp) return;
      object['spec'].finalizers = (object['spec'].finalizers ?? []).filter((each: string) => each !== finalizer);
      await this.#client.update(namespaces, object, 'finalize');
    });
  }

  async #ignoringGone(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}

const qualifiedName = ({resource, group}: Resource): string => (group ? `${resource}.${group}` : `${resource}.`);

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
}

/** What the status of a namespace on its way out says. Pure. */
export function terminationConditions({remaining, finalizers}: Leftovers, before: readonly Condition[], nowIso: string): Condition[] {
  const now = `${nowIso.slice(0, 19)}Z`;
  const count = (map: ReadonlyMap<string, number>, words: string) =>
    [...map]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, number]) => `${name} ${words} ${number} resource instances`)
      .join(', ');
  const wanted: Omit<Condition, 'lastTransitionTime'>[] = [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      status: 'False',
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      status: 'False',
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    remaining.size > 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${count(remaining, 'has')}`,
        }
      : {type: 'NamespaceContentRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed'},
    finalizers.size > 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${count(finalizers, 'in')}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  ];
  return wanted.map((condition) => {
    const same = before.find((old) => old.type === condition.type);
    return {...condition, lastTransitionTime: same && same.status === condition.status ? same.lastTransitionTime : now};
  });
}
