/** Who set which field: what metadata.managedFields says after a create, an update or a patch that is no apply. */
import type {JsonObject, KubeObject, ManagedFieldsEntry} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import type {StructType} from '../schema/types.ts';
import {compare} from './compare.ts';
import {FieldSet} from './field-set.ts';

export interface ManagedFieldsUpdate {
  /** The stored object; absent for a create. */
  live?: KubeObject;
  /** The object as it will be stored; its managedFields are replaced. */
  object: KubeObject;
  manager: string;
  subresource: string;
  /** groupVersion of the request. */
  apiVersion: string;
  /** RFC 3339, whole seconds. */
  now: string;
  type: StructType | undefined;
  /** Top-level fields that this endpoint does not write: they have no owner through it. */
  unowned?: readonly string[];
}

/** Update entries beyond this many are merged, the oldest first. */
const maxUpdateManagers = 10;
const ancientManager = 'ancient-changes';
const maxManagerBytes = 128;

/** The name in the request, else the first part of the user agent. */
export function managerOf(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager;
  const name = (userAgent ?? '').split('/')[0]!.replace(/\p{C}/gu, '');
  return name.length > 0
    ? Buffer.from(name)
        .subarray(0, maxManagerBytes)
        .toString('utf8')
        .replace(/\ufffd$/, '')
    : 'unknown';
}

/** What the server sets has no owner. */
const serverFields = FieldSet.fromJson({
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:clusterName': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
  },
});

const zeroObjects = new WeakMap<StructType, JsonObject>();

/** An empty object of the type: what it always has is not added by whoever creates it. */
function zeroOf(type: StructType | undefined, object: KubeObject): JsonObject {
  if (!type) return {};
  let zero = zeroObjects.get(type);
  if (!zero) {
    const slash = object.apiVersion.indexOf('/');
    const gv =
      slash < 0
        ? {group: '', version: object.apiVersion}
        : {group: object.apiVersion.slice(0, slash), version: object.apiVersion.slice(slash + 1)};
    zero = normalize({}, {...gv, kind: object.kind}) as unknown as JsonObject;
    zeroObjects.set(type, zero);
  }
  return zero;
}

export function updateManagedFields(update: ManagedFieldsUpdate): void {
  const {live, object, type} = update;
  const given = object.metadata.managedFields;
  delete object.metadata.managedFields;
  const entries = startingEntries(given, live);
  const reset = entries === undefined;
  const {managedFields: _old, ...liveMeta} = live?.metadata ?? {};
  const before = live ? ({...live, metadata: liveMeta} as unknown as JsonObject) : zeroOf(type, object);
  const changes = compare(before, object as unknown as JsonObject, type);
  const unowned = FieldSet.fromJson(Object.fromEntries((update.unowned ?? []).map((field) => [`f:${field}`, {}])));
  const strip = (set: FieldSet) => withoutSubtrees(set.difference(serverFields), unowned);
  const taken = strip(changes.added.union(changes.modified));
  const result = settle(update, reset ? [] : entries, taken, changes.removed);
  if (result.length > 0) object.metadata.managedFields = result;
}

/** The entries to start from; undefined asks for a reset. */
function startingEntries(given: ManagedFieldsEntry[] | undefined, live: KubeObject | undefined): ManagedFieldsEntry[] | undefined {
  if (!live) return [];
  // A single empty entry strips everything; an absent or empty list changes nothing.
  if (given?.length === 1 && Object.values(given[0]!).every((value) => value === undefined || value === '')) return undefined;
  if (given && given.length > 0 && given.every(isReadable)) return given;
  return live.metadata.managedFields ?? [];
}

const isReadable = (entry: ManagedFieldsEntry): boolean =>
  (entry.operation === 'Apply' || entry.operation === 'Update') &&
  entry.apiVersion !== undefined &&
  (entry.fieldsType === undefined || entry.fieldsType === 'FieldsV1');

function withoutSubtrees(set: FieldSet, roots: FieldSet): FieldSet {
  if (roots.children.size === 0) return set;
  const out = new FieldSet();
  out.member = set.member;
  for (const [element, child] of set.children) if (!roots.children.has(element)) out.children.set(element, child);
  return out;
}

interface Owned {
  entry: ManagedFieldsEntry;
  fields: FieldSet;
  /** The writer's own entry, and this write changed it: only then its time moves. */
  touched: boolean;
}

function settle(
  update: ManagedFieldsUpdate,
  entries: readonly ManagedFieldsEntry[],
  taken: FieldSet,
  removed: FieldSet,
): ManagedFieldsEntry[] {
  const {manager, subresource, apiVersion, now} = update;
  const isOwn = (entry: ManagedFieldsEntry) =>
    entry.operation === 'Update' &&
    entry.manager === manager &&
    entry.apiVersion === apiVersion &&
    (entry.subresource ?? '') === subresource;
  const nothing = taken.isEmpty && removed.isEmpty;
  if (nothing) return [...entries];
  const owners: Owned[] = [];
  let own: Owned | undefined;
  for (const entry of entries) {
    // Older entries carry a `fields` tree of the same form.
    const before = FieldSet.fromJson(entry.fieldsV1 ?? (entry as {fields?: JsonObject}).fields);
    const mine = isOwn(entry) && !own;
    const left = before.difference(removed);
    const fields = mine ? left.union(taken) : left.difference(taken);
    const owned = {entry, fields, touched: mine && !fields.equals(before)};
    if (mine) own = owned;
    owners.push(owned);
  }
  if (!own && !taken.isEmpty)
    owners.push({entry: {manager, operation: 'Update', apiVersion, ...(subresource && {subresource})}, fields: taken, touched: true});
  const kept = owners.filter(({fields}) => !fields.isEmpty).map((owned) => encode(owned, now));
  return sorted(capped(kept));
}

const encode = ({entry, fields, touched}: Owned, now: string): ManagedFieldsEntry => ({
  ...(entry.manager !== undefined && {manager: entry.manager}),
  ...(entry.operation !== undefined && {operation: entry.operation}),
  ...(entry.apiVersion !== undefined && {apiVersion: entry.apiVersion}),
  time: touched ? now : (entry.time ?? now),
  fieldsType: 'FieldsV1',
  fieldsV1: fields.toJson(),
  ...(entry.subresource && {subresource: entry.subresource}),
});

/** Many one-time managers become one, the oldest first, within a version. */
function capped(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const updates = entries.filter((entry) => entry.operation === 'Update').sort(byTime);
  if (updates.length <= maxUpdateManagers) return entries;
  const excess = new Set(updates.slice(0, updates.length - maxUpdateManagers + 1));
  const ancient = new Map<string, ManagedFieldsEntry>();
  for (const entry of excess) {
    const version = entry.apiVersion ?? '';
    const before = ancient.get(version);
    const fields = FieldSet.fromJson(entry.fieldsV1).union(FieldSet.fromJson(before?.fieldsV1));
    ancient.set(version, {
      manager: ancientManager,
      operation: 'Update',
      apiVersion: version,
      ...(entry.time && {time: entry.time}),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.toJson(),
    });
  }
  return [...entries.filter((entry) => !excess.has(entry)), ...ancient.values()];
}

const byTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): number => compareText(a.time ?? '', b.time ?? '');
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Applies before updates, then by time, manager and version. */
const sorted = (entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] =>
  entries.sort(
    (a, b) =>
      compareText(a.operation ?? '', b.operation ?? '') ||
      byTime(a, b) ||
      compareText(a.manager ?? '', b.manager ?? '') ||
      compareText(a.apiVersion ?? '', b.apiVersion ?? '') ||
      compareText(a.subresource ?? '', b.subresource ?? ''),
  );
