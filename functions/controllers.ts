/**
 * Rung by the log's stream, for what controllers have to do with: new namespaces get their content, those that go are emptied, what lost
 * its owner is collected, roles are gathered, pods get nodes. Most changes are nothing to them, and cost no call.
 */
import {ties} from '../shared/changes/object-cache.ts';
import {isNothing, note, type TiedChange} from '../shared/controllers/garbage/rung.ts';
import {isStoreError} from '../shared/storage/contract.ts';
import {ownerIndex, RungControllers} from './kit/controllers.ts';
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {type BatchResult, changesOf, type Rung, ringsIn} from './kit/records.ts';
import type {Invocation} from './kit/rest.ts';

const controllers = RungControllers.of('controllers', {followsAll: false});

/** Of these, creations and changes count as well. */
const followed = new Set([
  'namespaces',
  'nodes',
  'pods',
  'clusterroles.rbac.authorization.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
]);
/** They come and go by the minute, and nothing is owned by them. */
const ignored = new Set(['events', 'servicenodeports.internal', 'verificationkeys.internal']);

export const handler = async (event: unknown, context: Invocation = {}): Promise<BatchResult> => {
  const changes = changesOf(event, readEnvironment(doors.variables).cluster).filter(({type}) => !ignored.has(type));
  const rings = ringsIn(changes).filter(({type, goes}) => followed.has(type) || goes);
  const tied = await tiesOf(changes);
  const noted = await note(await ownerIndex(), tied);
  if (rings.length === 0 && isNothing(noted)) return {batchItemFailures: []};
  const done = await (await controllers()).react(
    rings.map(({type}) => type),
    context,
    noted,
  );
  return {batchItemFailures: done ? [] : changes.map(({sequenceNumber}) => ({itemIdentifier: sequenceNumber}))};
};

/** What of it ties objects together: what has owners, what is held on its way out, and all that went. */
async function tiesOf(changes: readonly Rung[]): Promise<TiedChange[]> {
  const tied: TiedChange[] = [];
  for (const {type, key, operation, revision, image} of changes) {
    const bytes = image() ?? (await imageOf(type, revision));
    const object = bytes && ties(key, bytes);
    const {ownerReferences, finalizers, deletionTimestamp} = object?.metadata ?? {};
    if (object && (operation === 'delete' || ownerReferences || (finalizers && deletionTimestamp)))
      tied.push({type, key, operation, revision, object});
  }
  return tied;
}

/** Of a change that was too large for its record. */
async function imageOf(type: string, revision: number): Promise<Uint8Array | undefined> {
  const {store} = (await controllers()).cluster.assembly.machine;
  try {
    return (await store.log(type, revision - 1, revision))[0]?.image;
  } catch (error) {
    // So late that only maintenance can tell what there was.
    if (isStoreError(error, 'Compacted')) return undefined;
    throw error;
  }
}
