/**
 * DELETE of an object, in two phases: an object with finalizers, with dependents to wait for, or with grace left is marked first and
 * removed when the last of them is done; any other is removed at once.
 */
import {admit} from '../admission/admit.ts';
import {conflict, notFound, objectModified} from '../errors.ts';
import {type DeleteOptions, deleteOptions} from '../http/delete-options.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {sameJson} from '../kinds/common/equal.ts';
import {rfc3339} from '../kinds/common/time.ts';
import {strategyFor} from '../kinds/index.ts';
import {maxPatchRetries} from '../limits.ts';
import type {KubeObject} from '../object.ts';
import {isStoreError, type Stored} from '../storage/contract.ts';
import {type Handler, keyOf, type RequestContext, subjectOf} from './context.ts';
import {decodeImage, imageEncoder} from './encode.ts';
import {deleteHook, settle} from './hooks.ts';
import {indexOf} from './index-of.ts';
import {encodeBody, headersFor, respondObject, served} from './respond.ts';

export const remove: Handler = async (context) => {
  const {request, resource, info} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const options = deleteOptions(request, resource);
  const {object, removed} = await deleteObject(context, info.name, options);
  const strategy = strategyFor(resource.group, resource.kind);
  if (!removed || strategy.deleteReturnsObject) return respondObject(context, representation, served(resource, object), 200);
  const {uid} = object.metadata;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {name: info.name, ...(resource.group && {group: resource.group}), kind: resource.resource, ...(uid && {uid})},
  };
  const {as: _as, ...plain} = representation;
  return {status: 200, headers: headersFor(representation), body: encodeBody(plain, status)};
};

export interface Deleted {
  object: KubeObject;
  /** False when the object stays for now, marked for deletion. */
  removed: boolean;
}

/** @throws StatusError 404, 409, 403 */
export async function deleteObject(context: RequestContext, name: string, options: DeleteOptions): Promise<Deleted> {
  const {machine, resource} = context;
  const key = keyOf(context, name);
  let stored = await machine.store.read(resource.storageType, key);
  for (let attempt = 0; ; attempt++) {
    if (!stored) throw notFound(subjectOf(resource), name);
    try {
      return await deleteOnce(context, stored, name, options);
    } catch (error) {
      if (!isStoreError(error) || (error.code !== 'Changed' && error.code !== 'NotFound')) throw error;
      if (attempt >= maxPatchRetries) throw conflict(subjectOf(resource), name, objectModified, error);
      stored = error.code === 'NotFound' ? undefined : (error.current ?? (await machine.store.read(resource.storageType, key)));
    }
  }
}

async function deleteOnce(context: RequestContext, stored: Stored, name: string, options: DeleteOptions): Promise<Deleted> {
  const {machine, resource, info, user} = context;
  const old = decodeImage(stored.image);
  checkPreconditions(context, old, name, options);
  const strategy = strategyFor(resource.group, resource.kind);
  const now = machine.clock.now();
  const attributes = {
    operation: 'DELETE' as const,
    resource,
    subresource: '',
    namespace: resource.namespaced ? info.namespace : '',
    name,
    old,
    user,
    dryRun: options.dryRun,
    now,
    warn: (text: string) => context.warnings.push(text),
  };
  await admit(attributes, machine.lookups, 'mutate');
  await admit(attributes, machine.lookups, 'validate');

  const marked = structuredClone(old);
  const grace = strategy.gracefulDeletion?.(old, options.gracePeriodSeconds);
  const finalizers = deletionFinalizers(old.metadata.finalizers ?? [], options, strategy.defaultPropagation);
  if (finalizers.length > 0) marked.metadata.finalizers = finalizers;
  else delete marked.metadata.finalizers;
  const waits = finalizers.length > 0 || (grace ?? 0) > 0 || hasNamespaceFinalizers(old);
  if (!waits) {
    if (options.dryRun) return {object: old, removed: true};
    // Kinds that know grace say in their last state that none is left.
    if (grace !== undefined) markDeleted(marked, old, 0, now);
    const gone = await removeStored(context, stored, grace === undefined ? old : marked);
    await settle(context, deleteHook(context, old));
    return {object: decodeImage(gone.image), removed: true};
  }
  markDeleted(marked, old, grace ?? 0, now);
  if (old.kind === 'Namespace') marked.status = {...old.status, phase: 'Terminating'};
  if (options.dryRun || sameJson(marked, old)) return {object: marked, removed: false};
  const written = await machine.store.append({
    type: resource.storageType,
    key: stored.key,
    expected: stored.revision,
    operation: 'put',
    encode: imageEncoder(marked),
    index: indexOf(strategy, marked),
  });
  return {object: decodeImage(written.image), removed: false};
}

/** Takes the object out of the store; its last state goes to watchers. */
export async function removeStored(context: RequestContext, stored: Stored, last: KubeObject): Promise<Stored> {
  const {machine, resource} = context;
  return machine.store.append({
    type: resource.storageType,
    key: stored.key,
    expected: stored.revision,
    operation: 'delete',
    encode: imageEncoder(last),
    index: indexOf(strategyFor(resource.group, resource.kind), last),
  });
}

function checkPreconditions(context: RequestContext, old: KubeObject, name: string, {preconditions}: DeleteOptions): void {
  const {kind, group} = context.resource;
  const subject = {group, resource: kind};
  if (preconditions.uid !== undefined && preconditions.uid !== old.metadata.uid)
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${old.metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== old.metadata.resourceVersion)
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${old.metadata.resourceVersion}). The object might have been modified`,
    );
}

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** The finalizers that remain to be worked off: the client's, and what the propagation policy adds for the garbage collector. */
function deletionFinalizers(present: readonly string[], options: DeleteOptions, byDefault: DeleteOptions['propagationPolicy']): string[] {
  const own = present.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  const policy =
    options.propagationPolicy ??
    (present.includes(orphanFinalizer) ? 'Orphan' : present.includes(foregroundFinalizer) ? 'Foreground' : (byDefault ?? 'Background'));
  if (policy === 'Orphan') own.push(orphanFinalizer);
  if (policy === 'Foreground') own.push(foregroundFinalizer);
  return own;
}

const hasNamespaceFinalizers = (object: KubeObject): boolean => object.kind === 'Namespace' && (object.spec?.finalizers?.length ?? 0) > 0;

/** A second delete may shorten the grace, never lengthen it or start it anew. */
function markDeleted(object: KubeObject, old: KubeObject, graceSeconds: number, now: number): void {
  const {metadata} = object;
  const was = old.metadata;
  if (was.deletionTimestamp) {
    const left = was.deletionGracePeriodSeconds ?? 0;
    if (graceSeconds >= left) return;
    const requested = Date.parse(was.deletionTimestamp) - left * 1000;
    metadata.deletionTimestamp = rfc3339(requested + graceSeconds * 1000);
    metadata.deletionGracePeriodSeconds = graceSeconds;
    return;
  }
  metadata.deletionTimestamp = rfc3339(now + graceSeconds * 1000);
  metadata.deletionGracePeriodSeconds = graceSeconds;
  if (metadata.generation) metadata.generation++;
}
