/**
 * Who set which field: what metadata.managedFields says after a create, an update, or a patch that is no apply. What changed is
 * compare.ts' to say, the algebra is field-set.ts', the entries as text are managers.ts'.
 */
import {convert} from '../convert/convert.ts';
import {type JsonObject, type KubeObject, type ManagedFieldsEntry, parseGroupVersion} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import {type StructType, typeByKind} from '../schema/types.ts';
import {type Comparison, compare} from './compare.ts';
import {FieldSet} from './field-set.ts';
import {capped, decodeManagers, encodeManagers, identityOf, type Managers} from './managers.ts';
import {writableThrough} from './reset-fields.ts';

export interface ManagedFieldsUpdate {
  /** The stored object; absent for a create. */
  live?: KubeObject;
  /** The object as it will be stored; its managedFields are replaced. */
  object: KubeObject;
  manager: string;
  /** Empty for the object itself. */
  subresource: string;
  /** groupVersion of the request; may be another than the objects'. */
  apiVersion: string;
  /** RFC 3339, whole seconds. */
  now: string;
  /** The objects' type; absent for kinds without one, whose lists are atomic then. */
  type: StructType | undefined;
}

/** The name in the request, else the first part of the user agent, as far as it can be printed and fits. */
export function managerOf(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager;
  let name = '';
  let bytes = 0;
  for (const char of (userAgent ?? '').split('/')[0]!) {
    if (unprintable.test(char)) continue;
    bytes += Buffer.byteLength(char);
    if (bytes > maxManagerBytes) break;
    name += char;
  }
  return name || 'unknown';
}

/** Rewrites the object's managedFields in place. Never throws for what a client wrote into them: unreadable ones count as none. */
export function updateManagedFields(update: ManagedFieldsUpdate): void {
  const {live, object} = update;
  const given = object.metadata.managedFields;
  delete object.metadata.managedFields;
  const managers = startingManagers(update, given);
  // Nobody is recorded as an owner: then it stays so, until somebody applies.
  if (live && managers.size === 0) return;
  const comparisons = comparisonsOf(update);
  const own = comparisons(update.apiVersion);
  if (!own) return;
  for (const [identity, managed] of managers) {
    const changes = comparisons(managed.apiVersion);
    // A version that is no longer served has no fields that could be owned.
    const fields = changes ? managed.fields.difference(changes.taken).difference(changes.removed) : FieldSet.empty;
    if (fields.isEmpty) managers.delete(identity);
    else if (fields !== managed.fields) managers.set(identity, {...managed, fields});
  }
  const taken = own.taken.difference(serverFields);
  if (!taken.isEmpty) {
    const {subresource, apiVersion, now} = update;
    const writer = {manager: update.manager || 'unknown', operation: 'Update' as const, apiVersion, subresource};
    const identity = identityOf(writer);
    const before = managers.get(identity);
    managers.set(identity, {...writer, time: now, fields: before ? taken.union(before.fields) : taken});
  }
  const entries = encodeManagers(capped(managers));
  if (entries.length > 0) object.metadata.managedFields = entries;
}

const maxManagerBytes = 128;
const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

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

/** A client may write the entries itself, but not through a subresource; an empty list, or one empty entry, clears them. */
function startingManagers({live, subresource}: ManagedFieldsUpdate, given: ManagedFieldsEntry[] | undefined): Managers {
  const stored = () => decodeManagers(live?.metadata.managedFields ?? []) ?? new Map();
  if (subresource !== '') return stored();
  if (given && isReset(given)) return new Map();
  const managers = decodeManagers(given ?? []);
  return managers && managers.size > 0 ? managers : stored();
}

const isReset = (given: readonly ManagedFieldsEntry[]): boolean =>
  given.length === 0 ||
  (given.length === 1 && Object.values(given[0]!).every((value) => value === undefined || value === null || value === ''));

/** What the write changed, as each version of the kind sees it; undefined for a version that there is not (any more). */
function comparisonsOf({live, object, subresource, type}: ManagedFieldsUpdate): (apiVersion: string) => Comparison | undefined {
  const known = new Map<string, Comparison | undefined>();
  const compareAs = (apiVersion: string): Comparison | undefined => {
    const gv = parseGroupVersion(apiVersion);
    if (!gv) return undefined;
    const isOurs = apiVersion === object.apiVersion;
    const theirType = isOurs ? type : typeByKind({...gv, kind: object.kind});
    if (!theirType && !isOurs) return undefined;
    const after = isOurs ? object : convert(object, gv);
    const before = live ? withoutManagedFields(isOurs ? live : convert(live, gv)) : zeroOf(theirType, gv, object.kind);
    const {taken, removed} = compare(before, after as unknown as JsonObject, theirType);
    const writable = writableThrough(gv.group, object.kind, subresource);
    return {taken: writable(taken), removed: writable(removed)};
  };
  return (apiVersion) => {
    if (!known.has(apiVersion)) known.set(apiVersion, compareAs(apiVersion));
    return known.get(apiVersion);
  };
}

function withoutManagedFields(object: KubeObject): JsonObject {
  const {managedFields: _managedFields, ...metadata} = object.metadata;
  return {...object, metadata} as unknown as JsonObject;
}

const zeroObjects = new WeakMap<StructType, JsonObject>();

/** An empty object of the type: what it always has is not added by whoever creates it. */
function zeroOf(type: StructType | undefined, gv: {group: string; version: string}, kind: string): JsonObject {
  if (!type) return {};
  let zero = zeroObjects.get(type);
  if (!zero) {
    zero = normalize({}, {...gv, kind}) as unknown as JsonObject;
    zeroObjects.set(type, zero);
  }
  return zero;
}
