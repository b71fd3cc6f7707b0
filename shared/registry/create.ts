/** POST to a collection: a new object. */

import {admit} from '../admission/admit.ts';
import {managerOf, updateManagedFields} from '../apply/managed-fields.ts';
import {alreadyExists, badRequest} from '../errors.ts';
import {invalidObject} from '../field-errors.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {type WriteOptions, writeOptions} from '../http/write-options.ts';
import {rfc3339} from '../kinds/common/time.ts';
import {strategyFor, validateForCreate} from '../kinds/index.ts';
import {groupVersion, type KubeObject} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {isStoreError, type Stored} from '../storage/contract.ts';
import {decodeObject} from './body.ts';
import {type Handler, keyOf, type Machine, type RequestContext, subjectOf} from './context.ts';
import {imageEncoder} from './encode.ts';
import {giveBack, settle, writeHook} from './hooks.ts';
import {indexOf} from './index-of.ts';
import {matchNamespace} from './match.ts';
import {respondImage, respondObject, served} from './respond.ts';

export const create: Handler = async (context) => {
  const {request} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const options = writeOptions('CreateOptions', request.query);
  const object = decodeObject(context, options.fieldValidation);
  const created = await createObject(context, object, options);
  return created.stored
    ? respondImage(context, representation, created.stored.image, 201)
    : respondObject(context, representation, served(context.resource, created.object), 201);
};

export interface Created {
  object: KubeObject;
  /** Absent for a dry run. */
  stored?: Stored;
}

/** A generated name that is taken is tried again with another ending, this often. */
const generatedNameAttempts = 8;

/** Everything after decoding: names, admission, validation, the write. `object` is in the stored version and is changed in place. */
export async function createObject(context: RequestContext, object: KubeObject, options: WriteOptions): Promise<Created> {
  const {generateName} = object.metadata;
  if (object.metadata.name || !generateName) return createNamed(context, object, options);
  for (let attempt = 1; ; attempt++) {
    try {
      return await createNamed(context, structuredClone(object), options);
    } catch (error) {
      if (attempt >= generatedNameAttempts || !(error instanceof Error) || (error as {reason?: string}).reason !== 'AlreadyExists')
        throw error;
    }
  }
}

function createNamed(context: RequestContext, object: KubeObject, options: WriteOptions): Promise<Created> {
  const {machine, resource, info} = context;
  if (!resource.namespaced || options.dryRun) return write(context, object, options);
  return machine.creators.run(info.namespace, () => write(context, object, options));
}

async function write(context: RequestContext, object: KubeObject, options: WriteOptions): Promise<Created> {
  const {machine, resource, user, info} = context;
  const {metadata} = object;
  matchNamespace(context, object);
  // A dry run never reaches the store, which is what refuses it in the reference.
  if (metadata.resourceVersion && !options.dryRun) throw badRequest('resourceVersion should not be set on objects to be created');
  const now = machine.clock.now();
  const strategy = strategyFor(resource.group, resource.kind);
  const strategyContext = {now, subresource: '', user};
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  metadata.uid = crypto.randomUUID();
  metadata.creationTimestamp = rfc3339(now);

  const attributes = {
    operation: 'CREATE' as const,
    resource,
    subresource: '',
    namespace: resource.namespaced ? info.namespace : '',
    name: metadata.name ?? '',
    object,
    user,
    dryRun: options.dryRun,
    now,
    warn: (text: string) => context.warnings.push(text),
    charge: machine.quotas.charger(machine.store, info.namespace, options.dryRun),
  };
  // Before anybody else touches the object: its writer owns what it sent, with the defaults, and not what admission or the strategy add.
  updateManagedFields({
    object,
    manager: managerOf(options.fieldManager, context.request.headers['user-agent']),
    subresource: '',
    apiVersion: groupVersion(resource),
    now: rfc3339(now),
    type: typeByKind({...resource.storage, kind: resource.kind}),
  });
  if (resource.namespaced) machine.quotas.prepare();
  await admit(attributes, machine.lookups, 'mutate');
  // Late, as in the reference: whoever refuses to admit it speaks of the prefix.
  if (!metadata.name && metadata.generateName) attributes.name = metadata.name = generatedName(metadata.generateName);
  strategy.prepareForCreate?.(object, strategyContext);
  const hook = writeHook(context, object, undefined, options);
  const claimed = await hook.before?.();
  try {
    const errors = validateForCreate(strategy, object, resource.namespaced, strategyContext);
    if (errors.length > 0) throw invalidObject({group: resource.group, kind: resource.kind}, metadata.name ?? '', errors);
    for (const text of strategy.warningsOnCreate?.(object) ?? []) context.warnings.push(text);
    await admit(attributes, machine.lookups, 'validate');
    strategy.canonicalize?.(object);
    if (options.dryRun) {
      await refuseTaken(context, object);
      await giveBack(context, claimed);
      return {object};
    }
    const stored = await machine.store.append({
      type: resource.storageType,
      key: keyOf(context, metadata.name!),
      expected: 'absent',
      operation: 'put',
      encode: imageEncoder(object),
      index: indexOf(strategy, object),
      ...(resource.namespaced && {guard: () => takesContent(machine, info.namespace)}),
    });
    await settle(context, hook);
    return {object, stored};
  } catch (error) {
    await giveBack(context, claimed, error);
    if (isStoreError(error, 'Exists')) throw alreadyExists(subjectOf(resource), metadata.name!);
    throw error;
  }
}

/** Asked again when the write has its revision: whoever empties the namespace then sees either the object or its refusal. */
async function takesContent({lookups}: Machine, namespace: string): Promise<boolean> {
  const found = await lookups.namespace(namespace);
  return found !== undefined && found.status?.phase !== 'Terminating';
}

async function refuseTaken(context: RequestContext, object: KubeObject): Promise<void> {
  const {machine, resource} = context;
  const taken = await machine.store.read(resource.storageType, keyOf(context, object.metadata.name!));
  if (taken) throw alreadyExists(subjectOf(resource), object.metadata.name!);
}

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxGeneratedLength = 63;

function generatedName(base: string): string {
  let suffix = '';
  // Rejection keeps the letters equally likely.
  while (suffix.length < suffixLength)
    for (const byte of crypto.getRandomValues(new Uint8Array(8)))
      if (byte < 243 && suffix.length < suffixLength) suffix += suffixLetters[byte % 27];
  return base.slice(0, maxGeneratedLength - suffixLength) + suffix;
}
