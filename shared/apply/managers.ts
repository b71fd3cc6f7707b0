/** The entries of managedFields: read, written, put in order, and kept from growing without end. */
import type {ManagedFieldsEntry} from '../object.ts';
import {FieldSet} from './field-set.ts';

export interface Managed {
  manager: string;
  subresource: string;
  operation: 'Apply' | 'Update';
  /** The version whose field names the set speaks in. */
  apiVersion: string;
  time?: string;
  fields: FieldSet;
}

/** By identity. */
export type Managers = Map<string, Managed>;

/**
 * Who an entry is: manager, operation, subresource, and for updates the version too, since an applier has one entry whatever version it
 * applies in. As text it is what the reference sorts by where times are equal.
 */
export function identityOf({manager, operation, apiVersion, subresource}: ManagedFieldsEntry): string {
  const name = manager ? `"manager":${JSON.stringify(manager)},` : '';
  const version = operation === 'Update' ? `,"apiVersion":${JSON.stringify(apiVersion)}` : '';
  const through = subresource ? `,"subresource":${JSON.stringify(subresource)}` : '';
  return `{${name}"operation":"${operation}"${version}${through}}`;
}

/** Undefined when any entry cannot be read: all count as none then. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of entries) {
    const {manager = '', subresource = '', operation, apiVersion, time, fieldsType, fieldsV1} = entry;
    // Entries of long ago had a `fields` tree, and no fieldsType.
    if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined;
    try {
      const fields = FieldSet.fromJson(fieldsV1);
      managers.set(identityOf(entry), {manager, subresource, operation, apiVersion, fields, ...(time && {time})});
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
  return managers;
}

/** Applies before updates, then by time, manager, version and subresource. */
export const encodeManagers = (managers: Managers): ManagedFieldsEntry[] =>
  Array.from(managers.values(), encodeManaged).sort(
    (a, b) =>
      compareText(a.operation, b.operation) ||
      compareText(a.time, b.time) ||
      compareText(a.manager, b.manager) ||
      compareText(a.apiVersion, b.apiVersion) ||
      compareText(a.subresource, b.subresource),
  );

/** Members in the order in which they are served; set one by one, since every create pays for this. */
function encodeManaged({manager, subresource, operation, apiVersion, time, fields}: Managed): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = manager ? {manager, operation, apiVersion} : {operation, apiVersion};
  if (time) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = fields.toJson();
  if (subresource) entry.subresource = subresource;
  return entry;
}

const maxUpdateManagers = 10;
const ancientManager = 'ancient-changes';

/** Updates beyond ten are merged into one entry per version, the oldest first; the newest of what was merged gives it its time. */
export function capped(managers: Managers): Managers {
  const updates = [...managers].filter(([, {operation}]) => operation === 'Update');
  if (updates.length <= maxUpdateManagers) return managers;
  updates.sort(([one, a], [other, b]) => compareText(a.time, b.time) || compareText(one, other));
  const firstOfVersion = new Map<string, string>();
  let count = updates.length;
  for (const [identity, managed] of updates) {
    if (count <= maxUpdateManagers) break;
    const {apiVersion} = managed;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identity);
      continue;
    }
    const bucket = identityOf({manager: ancientManager, operation: 'Update', apiVersion});
    const merged = managers.get(bucket) ?? managers.get(first)!;
    if (!managers.has(bucket)) managers.delete(first);
    managers.delete(identity);
    managers.set(bucket, {...managed, manager: ancientManager, subresource: '', fields: managed.fields.union(merged.fields)});
    count--;
  }
  return managers;
}

const compareText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);
