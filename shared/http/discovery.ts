/** Discovery, legacy and aggregated: the catalogue as clients read it. Built once for a catalogue, served with its hash as ETag. */

import {groupVersion} from '../object.ts';
import type {Catalogue, ServedGroup, ServedVersion} from '../registry/catalogue.ts';
import {sha256Base64} from './hash.ts';

export class Discovery {
  readonly #catalogue: Catalogue;
  readonly #serverAddress: string;
  readonly #hidden: string | undefined;
  readonly #hashes = new Map<string, string>();
  readonly groups: readonly ServedGroup[];

  /** `serverAddress`: host:port, as clients outside may reach the server. `hidden`: a group that is not told of. */
  constructor(catalogue: Catalogue, serverAddress: string, hidden?: string) {
    this.#catalogue = catalogue;
    this.#serverAddress = serverAddress;
    this.#hidden = hidden;
    this.groups = catalogue.groups.filter(({name}) => name !== hidden);
  }

  /** /api */
  apiVersions(): object {
    return {
      kind: 'APIVersions',
      versions: this.#catalogue.group('')?.versions.map(({version}) => version) ?? [],
      serverAddressByClientCIDRs: [{clientCIDR: '0.0.0.0/0', serverAddress: this.#serverAddress}],
    };
  }

  /** /apis */
  groupList(): object {
    const groups = this.groups.filter(({name}) => name !== '').map(describeGroup);
    return {kind: 'APIGroupList', apiVersion: 'v1', groups};
  }

  /** /apis/{group} */
  group(name: string): object | undefined {
    const group = name === '' || name === this.#hidden ? undefined : this.#catalogue.group(name);
    return group && {kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group)};
  }

  /** /api/{version} and /apis/{group}/{version} */
  async resourceList(group: string, version: string): Promise<object | undefined> {
    const served = this.#catalogue.version(group, version);
    if (!served || group === this.#hidden) return undefined;
    const resources = await Promise.all(
      served.rows.map(async (row) => {
        const resource = served.resources.get(row.name);
        return {
          name: row.name,
          singularName: row.singularName ?? '',
          namespaced: row.namespaced,
          ...(row.group !== undefined && {group: row.group}),
          ...(row.version !== undefined && {version: row.version}),
          kind: row.kind,
          verbs: row.verbs,
          ...(row.shortNames && {shortNames: row.shortNames}),
          ...(row.categories && {categories: row.categories}),
          ...(resource?.verbs.includes('list') && !resource.virtual && {storageVersionHash: await this.#storageVersionHash(resource)}),
        };
      }),
    );
    return {kind: 'APIResourceList', ...(group && {apiVersion: 'v1'}), groupVersion: groupVersion({group, version}), resources};
  }

  /** The same as one document: `legacy` for /api, the named groups for /apis. */
  aggregated(prefix: 'api' | 'apis', version: 'v2' | 'v2beta1'): object {
    const groups = this.groups.filter(({name}) => (name === '') === (prefix === 'api'));
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: groups.map((group) => ({
        metadata: group.name ? {name: group.name} : {},
        versions: group.versions.map((served) => ({
          version: served.version,
          resources: discoveryResources(group.name, served),
          freshness: 'Current',
        })),
      })),
    };
  }

  /** Clients compare it to learn whether stored objects must be migrated. */
  async #storageVersionHash(resource: {kind: string; storage: {group: string; version: string}}): Promise<string> {
    const text = `${resource.storage.group}/${resource.storage.version}/${resource.kind}`;
    let hash = this.#hashes.get(text);
    if (hash === undefined) {
      hash = await sha256Base64(text, 8);
      this.#hashes.set(text, hash);
    }
    return hash;
  }
}

const describeGroup = ({name, versions}: ServedGroup) => {
  const entries = versions.map(({version}) => ({groupVersion: `${name}/${version}`, version}));
  return {name, versions: entries, preferredVersion: entries[0]};
};

function discoveryResources(group: string, {version, resources}: ServedVersion): object[] {
  return [...resources.values()].map((resource) => ({
    resource: resource.resource,
    // The reference leaves group and version out where they are the document's own.
    responseKind: {group: '', version: '', kind: resource.kind},
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && {shortNames: resource.shortNames}),
    ...(resource.categories.length > 0 && {categories: resource.categories}),
    ...(Object.keys(resource.subresources).length > 0 && {
      subresources: Object.values(resource.subresources).map((sub) => {
        const own = sub.group === group && sub.version === version;
        return {
          subresource: sub.name,
          responseKind: {group: own ? '' : sub.group, version: own ? '' : sub.version, kind: sub.kind},
          verbs: sub.verbs,
        };
      }),
    }),
  }));
}
