/** Where things are on an API server. */
import type {ResourcePath} from './client.ts';

export function pathOf({groupVersion, resource, namespace}: ResourcePath, name?: string, subresource?: string): string {
  const root = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  const parts = [namespace ? `namespaces/${encodeURIComponent(namespace)}/${resource}` : resource];
  if (name) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  return `${root}/${parts.join('/')}`;
}
