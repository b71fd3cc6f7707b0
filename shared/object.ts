/** The shape that every API object shares, as plain JSON in the order in which it is served (kind, apiVersion, metadata, then the rest). */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Json;
  subresource?: string;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  /** RFC 3339, UTC, whole seconds. */
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export type Json = null | boolean | number | string | Json[] | {[key: string]: Json};
export type JsonObject = {[key: string]: Json};

export interface KubeObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: the rest of an object is described by data (see schema/), not by TypeScript
  [field: string]: any;
}

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** `v1` for the core group, `group/version` for the others. */
export const groupVersion = (gv: {group: string; version: string}): string => (gv.group ? `${gv.group}/${gv.version}` : gv.version);

/** The inverse of groupVersion; undefined for more than one slash, as the reference refuses it. */
export function parseGroupVersion(text: string): {group: string; version: string} | undefined {
  const parts = text.split('/');
  if (parts.length === 1) return {group: '', version: parts[0]!};
  if (parts.length === 2) return {group: parts[0]!, version: parts[1]!};
  return undefined;
}
