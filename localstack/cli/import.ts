/**
 * `clusterless import`: creates the objects of a stream. Uids are the new cluster's own, so owner references are rewritten to the
 * owners' new uids: an object whose owner has not been seen yet waits for it until the end of the stream.
 */
import {createReadStream} from 'node:fs';
import type {KubeObject, OwnerReference} from '../../shared/object.ts';
import {type Collection, collectionPath, discover} from './discovery.ts';
import {stripped} from './export.ts';
import {Refusal} from './fail.ts';
import {readObjects} from './object-stream.ts';
import {connect, type Remote, type Target, wordsOf} from './remote.ts';

export interface ImportFlags extends Target {
  replace?: boolean;
  status: boolean;
}

/** Others cannot be created before these exist. */
const barriers = new Set(['Namespace', 'CustomResourceDefinition']);
const concurrency = 8;
const failuresShown = 20;

export async function importObjects(file: string, flags: ImportFlags): Promise<void> {
  const remote = await connect(flags);
  const run = new Import(remote, await discover(remote), flags);
  try {
    const input = file === '-' ? process.stdin : createReadStream(file);
    for await (const object of readObjects(input)) await run.take(object);
    await run.finish();
  } finally {
    remote.close();
  }
  process.stderr.write(
    `${run.created} created, ${run.replaced} replaced, ${run.skipped} existed already, ${run.failed} failed at ${remote.url}\n`,
  );
  if (run.failed > 0) throw new Refusal(`${run.failed} objects could not be imported`);
}

class Import {
  created = 0;
  replaced = 0;
  skipped = 0;
  failed = 0;
  readonly #remote: Remote;
  readonly #flags: ImportFlags;
  readonly #collections: Map<string, Collection>;
  /** Old uid to new one, of every object that has been here. */
  readonly #uids = new Map<string, string>();
  readonly #waiting: KubeObject[] = [];
  readonly #running = new Set<Promise<void>>();

  constructor(remote: Remote, collections: readonly Collection[], flags: ImportFlags) {
    this.#remote = remote;
    this.#flags = flags;
    this.#collections = new Map(collections.map((one) => [`${one.group}/${one.kind}`, one]));
  }

  async take(object: KubeObject): Promise<void> {
    if (this.#unknownOwners(object).length > 0) {
      this.#waiting.push(object);
      return;
    }
    await this.#start(object);
  }

  /** What still waits is tried in rounds, as owners can be owned themselves; then without the owners that never came. */
  async finish(): Promise<void> {
    await Promise.all(this.#running);
    for (let before = -1; this.#waiting.length !== before; ) {
      before = this.#waiting.length;
      for (const object of this.#waiting.splice(0)) await this.take(object);
      await Promise.all(this.#running);
    }
    for (const object of this.#waiting.splice(0)) {
      const missing = this.#unknownOwners(object);
      process.stderr.write(
        `${nameOf(object)}: imported without its owner ${missing.map(({kind, name}) => `${kind} ${name}`).join(', ')}, which is not there\n`,
      );
      const owners = object.metadata.ownerReferences?.filter((owner) => !missing.includes(owner));
      await this.#start({...object, metadata: {...object.metadata, ownerReferences: owners ?? []}});
    }
    await Promise.all(this.#running);
  }

  #unknownOwners(object: KubeObject): OwnerReference[] {
    return object.metadata.ownerReferences?.filter(({uid}) => !this.#uids.has(uid)) ?? [];
  }

  async #start(object: KubeObject): Promise<void> {
    const task = this.#create(object).catch((error: Error) => this.#fail(object, error.message));
    const tracked = task.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
    if (barriers.has(object.kind)) await Promise.all(this.#running);
    else if (this.#running.size >= concurrency) await Promise.race(this.#running);
  }

  async #create(object: KubeObject): Promise<void> {
    const slash = object.apiVersion?.indexOf('/') ?? -1;
    const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
    const collection = this.#collections.get(`${group}/${object.kind}`);
    if (!collection) return this.#fail(object, `the cluster has no ${object.kind} in ${object.apiVersion}`);
    // In the version of the object, where the server may prefer another.
    const served = {...collection, version: slash < 0 ? object.apiVersion : object.apiVersion.slice(slash + 1)};
    const path = collectionPath(served, object.metadata.namespace ?? 'default');
    const wanted = this.#translated(object);

    let reply = await this.#remote.request('POST', path, wanted);
    const one = `${path}/${encodeURIComponent(object.metadata.name ?? '')}`;
    // An object that is there can fail for what only one can have (a Service's address) before it fails for being there.
    const present = reply.status === 409 || reply.status === 422 ? await this.#present(one) : undefined;
    if (present) {
      this.#remember(object, present);
      if (!this.#flags.replace) {
        this.skipped++;
        return;
      }
      reply = await this.#remote.request('PUT', one, wanted);
      if (reply.status >= 300) return this.#fail(object, wordsOf(reply));
      this.replaced++;
    } else if (reply.status >= 300) {
      return this.#fail(object, wordsOf(reply));
    } else {
      this.created++;
    }
    const made = JSON.parse(reply.text) as KubeObject;
    this.#remember(object, made);
    if (this.#flags.status && object.status !== undefined && collection.subresources.includes('status')) {
      const status = await this.#remote.request('PUT', `${one}/status`, {...made, status: object.status});
      if (status.status >= 300) process.stderr.write(`${nameOf(object)}: status not restored: ${wordsOf(status)}\n`);
    }
  }

  async #present(path: string): Promise<KubeObject | undefined> {
    const reply = await this.#remote.request('GET', path);
    return reply.status === 200 ? (JSON.parse(reply.text) as KubeObject) : undefined;
  }

  #translated(object: KubeObject): KubeObject {
    const {metadata, ...rest} = stripped(object);
    const owners = metadata.ownerReferences?.map((owner) => ({...owner, uid: this.#uids.get(owner.uid) ?? owner.uid}));
    // A deletion under way is not taken along: nobody would finish it.
    const {deletionTimestamp, deletionGracePeriodSeconds, ...kept} = metadata;
    return {...rest, metadata: {...kept, ...(owners?.length ? {ownerReferences: owners} : {ownerReferences: undefined})}} as KubeObject;
  }

  #remember(old: KubeObject, now: KubeObject): void {
    if (old.metadata.uid && now.metadata.uid) this.#uids.set(old.metadata.uid, now.metadata.uid);
  }

  #fail(object: KubeObject, why: string): void {
    this.failed++;
    if (this.failed <= failuresShown) process.stderr.write(`${nameOf(object)}: ${why}\n`);
    else if (this.failed === failuresShown + 1) process.stderr.write('more failures are counted, not shown\n');
  }
}

const nameOf = ({kind, metadata}: KubeObject): string =>
  `${kind} ${metadata?.namespace ? `${metadata.namespace}/` : ''}${metadata?.name ?? metadata?.generateName ?? '(no name)'}`;
