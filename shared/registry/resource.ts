/** A served resource as the rooms above see it: one row of the catalogue. */

export interface Subresource {
  name: string;
  /** The kind of its bodies; may differ from the parent's (Scale, Binding, Eviction, TokenRequest). */
  kind: string;
  group: string;
  version: string;
  verbs: readonly string[];
}

export interface Resource {
  group: string;
  version: string;
  /** Plural, as in the path. */
  resource: string;
  kind: string;
  listKind: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly string[];
  subresources: Readonly<Record<string, Subresource>>;
  /** Where its objects are kept: `pods`, `deployments.apps`; events of both groups share `events`. */
  storageType: string;
  /** The group version in which they are kept. */
  storage: {group: string; version: string};
  /** Not stored: a POST is an operation (SubjectAccessReview, ...). */
  virtual: boolean;
}
