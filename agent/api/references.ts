/** ConfigMaps and secrets that pods here refer to: watched one by one while a pod needs them, and the pod told when they change. */
import type {Informer} from '../../shared/client/informer.ts';
import {isReason} from '../../shared/errors.ts';
import type {KubeObject} from '../../shared/object.ts';
import {allContainers, type Pod} from '../pods/pod.ts';
import type {ApiClient} from './client.ts';
import {withoutManagers} from './keep.ts';

type Kind = 'configMap' | 'secret';

interface Entry {
  followers: Set<string>;
  informer: Informer;
  /** The first answer, whichever it is. */
  heard: Promise<void>;
  /** Why nothing is known yet. */
  failure: unknown;
}

const resourceOf: Readonly<Record<Kind, string>> = {configMap: 'configmaps', secret: 'secrets'};

export class ObjectReferences {
  readonly #client: ApiClient;
  readonly #changed: (uid: string) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #followed = new Map<string, Set<string>>();

  constructor(client: ApiClient, changed: (uid: string) => void) {
    this.#client = client;
    this.#changed = changed;
  }

  configMap(namespace: string, name: string): Promise<KubeObject | undefined> {
    return this.#get('configMap', namespace, name);
  }

  secret(namespace: string, name: string): Promise<KubeObject | undefined> {
    return this.#get('secret', namespace, name);
  }

  follow(pod: Pod): void {
    const {uid, namespace} = pod.metadata;
    if (this.#followed.has(uid)) return;
    const keys = new Set(referencesOf(pod).map(([kind, name]) => `${kind}/${namespace}/${name}`));
    this.#followed.set(uid, keys);
    for (const key of keys) this.#need(key).followers.add(uid);
  }

  unfollow(uid: string): void {
    for (const key of this.#followed.get(uid) ?? []) {
      const entry = this.#entries.get(key);
      entry?.followers.delete(uid);
      if (entry?.followers.size !== 0) continue;
      entry.informer.close();
      this.#entries.delete(key);
    }
    this.#followed.delete(uid);
  }

  async #get(kind: Kind, namespace: string, name: string): Promise<KubeObject | undefined> {
    const entry = this.#entries.get(`${kind}/${namespace}/${name}`);
    if (entry) {
      await entry.heard;
      if (entry.failure) throw entry.failure;
      return entry.informer.get(`${namespace}/${name}`);
    }
    try {
      return await this.#client.request<KubeObject>('GET', `/api/v1/namespaces/${namespace}/${resourceOf[kind]}/${name}`);
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #need(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const [kind, namespace, name] = key.split('/') as [Kind, string, string];
    const followers = new Set<string>();
    let listed = false;
    const tell = () => {
      if (listed) for (const uid of followers) this.#changed(uid);
    };
    const entry: Partial<Entry> = {followers};
    entry.heard = new Promise((resolve) => {
      entry.informer = this.#client.informer(
        {path: {groupVersion: 'v1', resource: resourceOf[kind], namespace}, fieldSelector: `metadata.name=${name}`},
        {
          keep: withoutManagers,
          handlers: {
            added: tell,
            updated: tell,
            deleted: tell,
            listed: () => {
              const late = entry.failure !== undefined;
              listed = true;
              entry.failure = undefined;
              resolve();
              if (late) tell();
            },
            failed: (error) => {
              if (!listed) entry.failure = error;
              resolve();
            },
          },
        },
      );
    });
    this.#entries.set(key, entry as Entry);
    return entry as Entry;
  }
}

/** [kind, name] of everything that a pod names. */
export function referencesOf(pod: Pod): [Kind, string][] {
  const found: [Kind, string][] = [];
  for (const {env = [], envFrom = []} of allContainers(pod)) {
    for (const {configMapRef, secretRef} of envFrom) {
      if (configMapRef) found.push(['configMap', configMapRef.name]);
      if (secretRef) found.push(['secret', secretRef.name]);
    }
    for (const {valueFrom} of env) {
      if (valueFrom?.configMapKeyRef) found.push(['configMap', valueFrom.configMapKeyRef.name]);
      if (valueFrom?.secretKeyRef) found.push(['secret', valueFrom.secretKeyRef.name]);
    }
  }
  for (const {configMap, secret, projected} of pod.spec.volumes ?? []) {
    if (configMap) found.push(['configMap', configMap.name]);
    if (secret) found.push(['secret', secret.secretName]);
    for (const source of projected?.sources ?? []) {
      if (source.configMap) found.push(['configMap', source.configMap.name]);
      if (source.secret) found.push(['secret', source.secret.name]);
    }
  }
  return found;
}
