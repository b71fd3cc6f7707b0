/** The collections that a server has, from the discovery that every release serves. */
import type {Remote} from './remote.ts';

export interface Collection {
  group: string;
  version: string;
  /** `v1`, `apps/v1`. */
  apiVersion: string;
  kind: string;
  resource: string;
  namespaced: boolean;
  verbs: readonly string[];
  subresources: readonly string[];
}

interface ResourceList {
  resources?: {name: string; kind: string; namespaced: boolean; verbs?: string[]}[];
}

interface GroupList {
  groups?: {name: string; versions: {version: string}[]; preferredVersion?: {version: string}}[];
}

/** One entry per group and resource in the group's preferred version, or in the first that has it. */
export async function discover(remote: Remote): Promise<Collection[]> {
  const versions: {group: string; version: string}[] = [{group: '', version: 'v1'}];
  for (const group of (await remote.get<GroupList>('/apis')).groups ?? []) {
    const preferred = group.preferredVersion?.version;
    const others = group.versions.map(({version}) => version).filter((version) => version !== preferred);
    for (const version of [...(preferred ? [preferred] : []), ...others]) versions.push({group: group.name, version});
  }
  const lists = await Promise.all(
    versions.map(async ({group, version}) => {
      // An aggregated API that is down must not spoil the rest.
      const reply = await remote.request('GET', group ? `/apis/${group}/${version}` : `/api/${version}`);
      return {group, version, list: reply.status === 200 ? (JSON.parse(reply.text) as ResourceList) : {}};
    }),
  );
  const found = new Map<string, Collection>();
  for (const {group, version, list} of lists) {
    const names = list.resources?.map(({name}) => name) ?? [];
    for (const {name, kind, namespaced, verbs = []} of list.resources ?? []) {
      if (name.includes('/') || found.has(`${name}.${group}`)) continue;
      const subresources = names.filter((other) => other.startsWith(`${name}/`)).map((other) => other.slice(name.length + 1));
      const apiVersion = group ? `${group}/${version}` : version;
      found.set(`${name}.${group}`, {group, version, apiVersion, kind, resource: name, namespaced, verbs, subresources});
    }
  }
  return [...found.values()];
}

export function collectionPath({group, version, resource, namespaced}: Collection, namespace?: string): string {
  const prefix = group ? `/apis/${group}/${version}` : `/api/${version}`;
  return namespaced && namespace !== undefined
    ? `${prefix}/namespaces/${encodeURIComponent(namespace)}/${resource}`
    : `${prefix}/${resource}`;
}
