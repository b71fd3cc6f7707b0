/**
 * Which resources are served: rows of data (../schema/data/catalogue.json, made from the facts) indexed for look-ups by path and by
 * kind. What a kind adds to its structure is in ../kinds.
 */
import {groupVersion} from '../object.ts';
import {loadData} from '../schema/data.ts';
import type {Resource, Subresource} from './resource.ts';

interface ResourceRow {
  name: string;
  singularName?: string;
  namespaced: boolean;
  kind: string;
  group?: string;
  version?: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  /** Group version of the stored form, where it is another one. */
  storage?: string;
  virtual?: boolean;
}

interface CatalogueData {
  groups: {name: string; versions: {version: string; default: boolean}[]}[];
  resources: Record<string, ResourceRow[]>;
}

export interface ServedVersion {
  version: string;
  /** In the order of discovery, subresource rows included. */
  rows: readonly ResourceRow[];
  resources: ReadonlyMap<string, Resource>;
}

export interface ServedGroup {
  name: string;
  /** Preferred version first. */
  versions: readonly ServedVersion[];
}

export class Catalogue {
  /** In the order of discovery, the core group first. */
  readonly groups: readonly ServedGroup[];
  readonly resources: readonly Resource[];
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #byType = new Map<string, Resource>();
  readonly #groups = new Map<string, ServedGroup>();

  constructor(data: CatalogueData) {
    const isServed = (gv: {group: string; version: string}) =>
      data.groups.some(
        (group) => group.name === gv.group && group.versions.some((served) => served.default && served.version === gv.version),
      );
    this.groups = data.groups
      .map((group) => ({
        name: group.name,
        versions: group.versions
          .filter((version) => version.default)
          .map(({version}) => {
            const rows = data.resources[groupVersion({group: group.name, version})] ?? [];
            return {version, rows, resources: resourcesOf(group.name, version, rows, isServed)};
          }),
      }))
      .filter((group) => group.versions.length > 0);
    this.resources = this.groups.flatMap((group) => group.versions.flatMap((version) => [...version.resources.values()]));
    for (const group of this.groups) this.#groups.set(group.name, group);
    for (const resource of this.resources) {
      this.#byPath.set(`${resource.group}/${resource.version}/${resource.resource}`, resource);
      this.#byKind.set(`${resource.group}/${resource.version}/${resource.kind}`, resource);
      const isStored = resource.group === resource.storage.group && resource.version === resource.storage.version;
      if (!resource.virtual && (isStored || !this.#byType.has(resource.storageType))) this.#byType.set(resource.storageType, resource);
    }
  }

  find(group: string, version: string, resource: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`);
  }

  byKind(group: string, version: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  group(name: string): ServedGroup | undefined {
    return this.#groups.get(name);
  }

  version(group: string, version: string): ServedVersion | undefined {
    return this.#groups.get(group)?.versions.find((served) => served.version === version);
  }

  /** One resource for each storage type, in its stored version where that is served. */
  stored(): IterableIterator<Resource> {
    return this.#byType.values();
  }

  byType(storageType: string): Resource | undefined {
    return this.#byType.get(storageType);
  }
}

function resourcesOf(
  group: string,
  version: string,
  rows: readonly ResourceRow[],
  isServed: (gv: {group: string; version: string}) => boolean,
): Map<string, Resource> {
  const resources = new Map<string, Resource>();
  for (const row of rows) {
    if (row.name.includes('/')) continue;
    // Looked up by what stands in a path: `constructor` must not be found.
    const subresources: Record<string, Subresource> = Object.create(null);
    for (const sub of rows) {
      if (!sub.name.startsWith(`${row.name}/`)) continue;
      const name = sub.name.slice(row.name.length + 1);
      subresources[name] = {name, kind: sub.kind, group: sub.group ?? group, version: sub.version ?? version, verbs: sub.verbs};
    }
    // The reference may still store a version that it no longer serves; we keep what we can decode.
    const stored = storageOf(group, version, row.storage);
    const storage = isServed(stored) ? stored : {group, version};
    resources.set(row.name, {
      group,
      version,
      resource: row.name,
      kind: row.kind,
      listKind: `${row.kind}List`,
      singular: row.singularName ?? '',
      shortNames: row.shortNames ?? [],
      categories: row.categories ?? [],
      namespaced: row.namespaced,
      verbs: row.verbs,
      subresources,
      storageType: storage.group ? `${row.name}.${storage.group}` : row.name,
      storage,
      virtual: row.virtual === true,
    });
  }
  return resources;
}

function storageOf(group: string, version: string, storage: string | undefined): {group: string; version: string} {
  if (storage === undefined) return {group, version};
  const slash = storage.indexOf('/');
  return slash < 0 ? {group: '', version: storage} : {group: storage.slice(0, slash), version: storage.slice(slash + 1)};
}

let served: Catalogue | undefined;

/** The built-in resources that are on by default. */
export function catalogue(): Catalogue {
  served ??= new Catalogue(loadData('catalogue') as CatalogueData);
  return served;
}
