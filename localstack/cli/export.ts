/**
 * `clusterless export`: all objects of a cluster as a stream, in an order in which they can be created again. Pages of one list are
 * one snapshot; different types are read one after another.
 */
import {once} from 'node:events';
import type {KubeObject} from '../../shared/object.ts';
import {type Collection, collectionPath, discover} from './discovery.ts';
import {Refusal} from './fail.ts';
import {connect, type Remote, type Target, wordsOf} from './remote.ts';

export interface ExportFlags extends Target {
  output: 'json' | 'yaml';
  namespace?: string;
  include: string[];
  exclude: string[];
  strip?: boolean;
}

/** Nobody restores these: they tell of moments of the old cluster. */
const leftOut = ['events', 'events.events.k8s.io', 'leases.coordination.k8s.io'];
/** Same objects under another name. */
const doubles = new Set(['events.events.k8s.io', 'componentstatuses']);
/** What others need to exist first. */
const first = ['namespaces', 'customresourcedefinitions.apiextensions.k8s.io', 'priorityclasses.scheduling.k8s.io', 'serviceaccounts'];
const pageItems = 500;

export const qualifiedName = ({resource, group}: {resource: string; group: string}): string => (group ? `${resource}.${group}` : resource);

/** Owners before what they own, as far as types can tell; the rest by name, so that two exports can be compared. */
export function exportOrder(a: Collection, b: Collection): number {
  const rank = (collection: Collection): number => {
    const at = first.indexOf(qualifiedName(collection));
    return at < 0 ? first.length : at;
  };
  return rank(a) - rank(b) || qualifiedName(a).localeCompare(qualifiedName(b));
}

export function chosen(collections: readonly Collection[], flags: Pick<ExportFlags, 'namespace' | 'include' | 'exclude'>): Collection[] {
  const named = (collection: Collection, list: readonly string[]): boolean =>
    list.includes(collection.resource) || list.includes(qualifiedName(collection));
  return collections
    .filter((collection) => collection.verbs.includes('list') && collection.verbs.includes('create'))
    .filter((collection) => !doubles.has(qualifiedName(collection)))
    .filter((collection) => !named(collection, leftOut) || named(collection, flags.include))
    .filter((collection) => !named(collection, flags.exclude))
    .filter((collection) => flags.namespace === undefined || collection.namespaced)
    .sort(exportOrder);
}

export async function exportObjects(flags: ExportFlags): Promise<void> {
  const remote = await connect(flags);
  const toYaml = flags.output === 'yaml' ? (await import('yaml')).stringify : undefined;
  let count = 0;
  try {
    const collections = chosen(await discover(remote), flags);
    for (const collection of collections) {
      const before = count;
      for await (const object of objectsOf(remote, collection, flags.namespace)) {
        const out = flags.strip ? stripped(object) : object;
        const text = toYaml ? `---\n${toYaml(out, {lineWidth: 0})}` : `${JSON.stringify(out)}\n`;
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        count++;
      }
      if (count > before) process.stderr.write(`${String(count - before).padStart(8)} ${qualifiedName(collection)}\n`);
    }
    process.stderr.write(`${String(count).padStart(8)} objects exported from ${remote.url}\n`);
  } finally {
    remote.close();
  }
}

interface List {
  metadata?: {continue?: string};
  items?: KubeObject[];
}

/** Reads page by page. When the server forgets the snapshot in between, goes on with the token that it offers instead. */
async function* objectsOf(remote: Remote, collection: Collection, namespace: string | undefined): AsyncGenerator<KubeObject> {
  const path = collectionPath(collection, namespace);
  let token = '';
  do {
    const reply = await remote.request('GET', `${path}?limit=${pageItems}${token ? `&continue=${encodeURIComponent(token)}` : ''}`);
    // Gone between discovery and now, or not ours to read: said, not fatal.
    if (reply.status === 404 || reply.status === 405) return;
    if (reply.status === 410 && token) {
      token = (JSON.parse(reply.text) as List).metadata?.continue ?? '';
      if (!token) throw new Refusal(`${path}: the list expired while it was read`);
      process.stderr.write(`${qualifiedName(collection)}: the snapshot expired; the rest is as of now\n`);
      continue;
    }
    if (reply.status === 403) {
      process.stderr.write(`${qualifiedName(collection)}: left out: ${wordsOf(reply)}\n`);
      return;
    }
    if (reply.status !== 200) throw new Refusal(`${path}: ${wordsOf(reply)}`);
    const list = JSON.parse(reply.text) as List;
    for (const item of list.items ?? []) {
      const {apiVersion: _, kind: __, ...rest} = item;
      yield {kind: collection.kind, apiVersion: collection.apiVersion, ...rest} as KubeObject;
    }
    token = list.metadata?.continue ?? '';
  } while (token);
}

/** Without what means something in one cluster only. */
export function stripped(object: KubeObject): KubeObject {
  const {uid, resourceVersion, creationTimestamp, managedFields, generation, selfLink, ...metadata} = object.metadata;
  return {...object, metadata};
}
