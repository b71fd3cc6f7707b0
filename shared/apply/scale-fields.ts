/**
 * Who owns the replicas of a workload that is written through its scale subresource. The writer takes them from whoever had them;
 * nothing else of the workload changes hands. As in the reference its entry carries no time.
 */
import type {JsonObject, KubeObject} from '../object.ts';
import {setKey} from '../schema/json.ts';
import {FieldSet} from './field-set.ts';
import {decodeManagers, encodeManagers, identityOf} from './managers.ts';

export interface ScaleFieldsUpdate {
  live: KubeObject;
  /** The workload as it will be stored; its managedFields are replaced. */
  object: KubeObject;
  manager: string;
  /** groupVersion of the workload in the request. */
  apiVersion: string;
}

const replicas = FieldSet.ofPaths([['spec', 'replicas']]);
const replicasPath = ['f:spec', 'f:replicas'];

export function updateScaleManagedFields({live, object, manager, apiVersion}: ScaleFieldsUpdate): void {
  delete object.metadata.managedFields;
  const entries = live.metadata.managedFields;
  const managers = entries && decodeManagers(entries);
  if (!managers || managers.size === 0) return;
  const owners = [...managers].filter(([, {fields}]) => fields.has(replicasPath));
  // Where nobody owns them nobody is recorded, as for an object without entries.
  if (owners.length > 0 && (live.spec?.replicas ?? 0) !== (object.spec?.replicas ?? 0)) {
    for (const [identity, managed] of owners) {
      const fields = managed.fields.difference(replicas);
      if (fields.isEmpty) managers.delete(identity);
      else managers.set(identity, {...managed, fields});
    }
    const writer = {manager: manager || 'unknown', operation: 'Update' as const, apiVersion, subresource: 'scale'};
    // Zero is how a Scale says that it has none: nothing that could be owned.
    if (object.spec?.replicas) managers.set(identityOf(writer), {...writer, fields: replicas});
  }
  const result = encodeManagers(managers).map((entry) => ({...entry, fieldsV1: sortedByText(entry.fieldsV1 as JsonObject)}));
  if (result.length > 0) object.metadata.managedFields = result;
}

/** The reference lays these sets out by the text of their elements here, where everywhere else numbers count as numbers. */
function sortedByText(fields: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const element of Object.keys(fields).sort()) setKey(out, element, sortedByText(fields[element] as JsonObject));
  return out;
}
