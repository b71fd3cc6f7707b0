/**
 * PUT of an object, and the loop that every change of a stored object goes through: read, decide what it shall be, admit, validate,
 * write if nobody else did. PATCH and the subresources decide in their own files.
 */
import {admit} from '../admission/admit.ts';
import {managerOf, updateManagedFields} from '../apply/managed-fields.ts';
import {updateScaleManagedFields} from '../apply/scale-fields.ts';
import {requireAllowed} from '../auth/authorize.ts';
import {conflict, isReason, notFound, objectModified} from '../errors.ts';
import {invalidObject} from '../field-errors.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {attributesOf} from '../http/request-info.ts';
import {parseRevision} from '../http/resource-version.ts';
import {type WriteOptions, writeOptions} from '../http/write-options.ts';
import {sameJson} from '../kinds/common/equal.ts';
import {rfc3339} from '../kinds/common/time.ts';
import {strategyFor, validateForUpdate} from '../kinds/index.ts';
import {maxPatchRetries} from '../limits.ts';
import {groupVersion, type KubeObject} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {isStoreError, type Stored} from '../storage/contract.ts';
import {decodeObject} from './body.ts';
import {type Handler, keyOf, type RequestContext, subjectOf} from './context.ts';
import {createObject} from './create.ts';
import {removeStored} from './delete.ts';
import {decodeImage, imageEncoder} from './encode.ts';
import {deleteHook, giveBack, settle, writeHook} from './hooks.ts';
import {indexOf} from './index-of.ts';
import {matchName, matchNamespace} from './match.ts';
import type {Resource} from './resource.ts';
import {respondImage, respondObject, served} from './respond.ts';

export const update: Handler = async (context) => {
  const {request} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const options = writeOptions('UpdateOptions', request.query);
  const desired = decodeObject(context, options.fieldValidation);
  const {resource, info} = context;
  matchName(context, desired);
  matchNamespace(context, desired);
  const strategy = strategyFor(resource.group, resource.kind);
  if (strategy.allowCreateOnUpdate && info.subresource === '') {
    const present = await context.machine.store.read(resource.storageType, keyOf(context, info.name));
    if (!present) {
      // The request was authorized as an update; what it is going to do is more than that.
      await requireAllowed(context.machine.authorizer, {...attributesOf(info, context.user), verb: 'create'});
      const fresh = structuredClone(desired);
      delete fresh.metadata.resourceVersion;
      try {
        const created = await createObject(context, fresh, options);
        return created.stored
          ? respondImage(context, representation, created.stored.image, 201)
          : respondObject(context, representation, served(resource, created.object), 201);
      } catch (error) {
        // Somebody made it meanwhile: then this is an update after all.
        if (!isReason(error, 'AlreadyExists')) throw error;
      }
    }
  }
  const written = await updateObject(context, options, (old) => {
    // A PUT means the object that it names by its uid; a patch that changes the uid is judged by validation.
    const {uid} = desired.metadata;
    if (uid && uid !== old.metadata.uid)
      throw conflict(subjectOf(resource), info.name, uidMismatch(resource, keyOf(context, info.name), uid, old.metadata.uid!));
    return structuredClone(desired);
  });
  return written.stored
    ? respondImage(context, representation, written.stored.image)
    : respondObject(context, representation, served(resource, written.object));
};

export interface Updated {
  object: KubeObject;
  /** Absent for a dry run. */
  stored?: Stored;
}

/** What the object shall be, from what it is. May throw; must not change `old`. Called again when another writer was faster. */
export type Decide = (old: KubeObject) => KubeObject | Promise<KubeObject>;

/**
 * `trusted`: the server itself decides what changes (a binding), so the strategy neither restores nor judges fields.
 * @throws StatusError 404, 409, 422, 403
 */
export async function updateObject(context: RequestContext, options: WriteOptions, decide: Decide, trusted = false): Promise<Updated> {
  const {machine, resource, info} = context;
  const key = keyOf(context, info.name);
  let stored = await machine.store.read(resource.storageType, key);
  for (let attempt = 0; ; attempt++) {
    if (!stored) throw notFound(subjectOf(resource), info.name);
    try {
      return await updateOnce(context, options, stored, decide, trusted);
    } catch (error) {
      if (!isStoreError(error) || (error.code !== 'Changed' && error.code !== 'NotFound')) throw error;
      if (attempt >= maxPatchRetries) throw conflict(subjectOf(resource), info.name, objectModified, error);
      stored = error.code === 'NotFound' ? undefined : (error.current ?? (await machine.store.read(resource.storageType, key)));
    }
  }
}

async function updateOnce(
  context: RequestContext,
  options: WriteOptions,
  stored: Stored,
  decide: Decide,
  trusted: boolean,
): Promise<Updated> {
  const {machine, resource, info, user} = context;
  const {subresource} = info;
  const old = decodeImage(stored.image);
  const object = await decide(old);
  const strategy = strategyFor(resource.group, resource.kind);
  const now = machine.clock.now();
  checkVersion(context, strategy.allowUnconditionalUpdate !== false, object, stored);
  keepServerFields(object, old);

  const attributes = {
    operation: 'UPDATE' as const,
    resource,
    subresource,
    namespace: resource.namespaced ? info.namespace : '',
    name: info.name,
    object,
    old,
    user,
    dryRun: options.dryRun,
    now,
    warn: (text: string) => context.warnings.push(text),
    charge: machine.quotas.charger(machine.store, info.namespace, options.dryRun),
  };
  const strategyContext = {now, subresource, user};
  recordOwnership(context, options, old, object, trusted, now);
  await admit(attributes, machine.lookups, 'mutate');
  if (!trusted) strategy.prepareForUpdate?.(object, old, strategyContext);
  object.metadata.resourceVersion = old.metadata.resourceVersion!;
  const hook = writeHook(context, object, old, options);
  const claimed = await hook.before?.();
  try {
    const errors = trusted ? [] : validateForUpdate(strategy, object, old, resource.namespaced, strategyContext);
    if (errors.length > 0) throw invalidObject({group: resource.group, kind: resource.kind}, info.name, errors);
    // Who writes a status, or any part that is not the whole, is not told about the rest.
    if (subresource === '' || subresource === 'scale')
      for (const text of strategy.warningsOnUpdate?.(object, old) ?? []) context.warnings.push(text);
    await admit(attributes, machine.lookups, 'validate');
    strategy.canonicalize?.(object);
    if (isUnchanged(object, old)) {
      await giveBack(context, claimed);
      return {object: old, stored};
    }
    if (options.dryRun) {
      await giveBack(context, claimed);
      return {object};
    }
    // The last finalizer is gone from an object that waits to be deleted: this write removes it.
    if (isFinished(object, subresource)) {
      const removed = await removeStored(context, stored, object);
      await settle(context, hook);
      await settle(context, deleteHook(context, object));
      return {object, stored: removed};
    }
    const written = await machine.store.append({
      type: resource.storageType,
      key: stored.key,
      expected: stored.revision,
      operation: 'put',
      encode: imageEncoder(object),
      index: indexOf(strategy, object),
    });
    await settle(context, hook);
    return {object, stored: written};
  } catch (error) {
    await giveBack(context, claimed, error);
    throw error;
  }
}

/** As in a create, before admission and the strategy: what they change has no owner. What the server decides by itself has none either. */
function recordOwnership(
  context: RequestContext,
  options: WriteOptions,
  live: KubeObject,
  object: KubeObject,
  trusted: boolean,
  now: number,
): void {
  const {resource, info, request} = context;
  if (trusted) {
    if (live.metadata.managedFields) object.metadata.managedFields = live.metadata.managedFields;
    else delete object.metadata.managedFields;
    return;
  }
  const ownership = {
    live,
    object,
    manager: managerOf(options.fieldManager, request.headers['user-agent']),
    apiVersion: groupVersion(resource),
  };
  if (info.subresource === 'scale') updateScaleManagedFields(ownership);
  else {
    const type = typeByKind({...resource.storage, kind: resource.kind});
    updateManagedFields({...ownership, subresource: info.subresource, now: rfc3339(now), type});
  }
}

/** The reference lets its storage layer's words through; clients have come to grep for them, the path in etcd included. */
const uidMismatch = (resource: Resource, key: string, wanted: string, found: string): string =>
  `StorageError: invalid object, Code: 4, Key: /registry/${registryPaths[resource.storageType] ?? resource.resource}/${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;

/** Types whose path in etcd is not their resource. */
const registryPaths: Record<string, string> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  'ingresses.networking.k8s.io': 'ingress',
  'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiservices.apiregistration.k8s.io': 'apiregistration.k8s.io/apiservices',
};

/** A field that was set again and then restored leaves nothing but a new time in its manager's entry: that is no change. */
function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  const timeless = ({metadata, ...rest}: KubeObject) => ({
    ...rest,
    metadata: {...metadata, managedFields: metadata.managedFields?.map(({time: _time, ...entry}) => entry)},
  });
  return sameJson(timeless(object), timeless(old));
}

/** Whether nothing holds back the removal of an object that is being deleted. */
function isFinished(object: KubeObject, subresource: string): boolean {
  const {metadata} = object;
  if (!metadata.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false;
  if (object.kind === 'Namespace') return (object.spec?.finalizers?.length ?? 0) === 0;
  // A pod with grace left is removed by its node, not by an update.
  if (object.kind === 'Pod' && (metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return subresource === '' || subresource === 'finalize' || subresource === 'status';
}

function checkVersion(context: RequestContext, unconditional: boolean, object: KubeObject, stored: Stored): void {
  const {resource, info} = context;
  const wanted = parseRevision(object.metadata.resourceVersion);
  if (wanted === undefined || wanted === 0) {
    if (!unconditional)
      // Here the reference names the resource, not the kind.
      throw invalidObject({group: resource.group, kind: resource.resource}, info.name, [
        {type: 'FieldValueInvalid', field: 'metadata.resourceVersion', message: 'Invalid value: 0: must be specified for an update'},
      ]);
    return;
  }
  if (wanted !== stored.revision) throw conflict(subjectOf(resource), info.name, objectModified);
}

/** Clients may leave these out; they may not change them. */
function keepServerFields(object: KubeObject, old: KubeObject): void {
  const {metadata} = object;
  const was = old.metadata;
  delete metadata.selfLink;
  metadata.uid ??= was.uid!;
  if (was.generation === undefined) delete metadata.generation;
  else metadata.generation = was.generation;
  if (was.creationTimestamp) metadata.creationTimestamp = was.creationTimestamp;
  if (was.deletionTimestamp) metadata.deletionTimestamp = was.deletionTimestamp;
  else delete metadata.deletionTimestamp;
  if (was.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= was.deletionGracePeriodSeconds;
}
