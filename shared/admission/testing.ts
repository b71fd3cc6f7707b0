/** For the tests of this room: types as admission sees them. */
import type {Resource} from '../registry/resource.ts';

export const resource = (kind: string, plural: string, group = '', namespaced = true): Resource => ({
  group,
  version: 'v1',
  resource: plural,
  kind,
  listKind: `${kind}List`,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced,
  verbs: [],
  subresources: {},
  storageType: group ? `${plural}.${group}` : plural,
  storage: {group, version: 'v1'},
  virtual: false,
});
