/**
 * What strategies have in common: who may write status, how generation grows. A kind's file names its differences and `define` weaves
 * them in; a kind without a file gets the plain strategy at the end.
 */
import type {JsonObject, KubeObject, ObjectMeta} from '../object.ts';
import {sameJson} from './common/equal.ts';
import type {Strategy, StrategyContext} from './strategy.ts';

export interface KindRules extends Strategy {
  /** The status of a new object as it is served. Its presence says that the main endpoint may not write status. */
  newStatus?(object: KubeObject, context: StrategyContext): JsonObject;
  /** The status endpoint changes nothing in metadata but managedFields. */
  statusKeepsMetadata?: boolean;
  /** What the generation follows. Default: all but metadata and status. */
  generationFollows?(object: KubeObject): unknown;
  /** The generation never grows after it was set. */
  generationStays?: boolean;
}

export function define(rules: KindRules): Strategy {
  const {newStatus, statusKeepsMetadata, generationFollows = body, generationStays, prepareForCreate, prepareForUpdate, ...rest} = rules;
  return {
    allowUnconditionalUpdate: true,
    ...rest,
    hasStatus: rest.hasStatus ?? newStatus !== undefined,
    prepareForCreate(object, context) {
      if (newStatus) object.status = newStatus(object, context);
      if (rules.generation) object.metadata.generation = 1;
      prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      setOrDelete(object.metadata, 'generation', old.metadata.generation);
      if (context.subresource === '' && newStatus) setOrDelete(object, 'status', old.status);
      if (context.subresource === 'status') {
        keepAllButStatus(object, old);
        if (statusKeepsMetadata) object.metadata = metadataForStatus(object.metadata, old.metadata);
      }
      prepareForUpdate?.(object, old, context);
      if (rules.generation && !generationStays && !sameJson(generationFollows(object), generationFollows(old)))
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
  };
}

function body(object: KubeObject): unknown {
  const {kind: _kind, apiVersion: _version, metadata: _metadata, status: _status, ...rest} = object;
  return rest;
}

export function setOrDelete<T extends object, K extends keyof T>(target: T, field: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)]))
    if (!['kind', 'apiVersion', 'metadata', 'status'].includes(field)) setOrDelete(object, field, structuredClone(old[field]));
}

/** Some kinds let their status endpoint change neither labels nor annotations nor owners nor finalizers. */
export function metadataForStatus(meta: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const kept: ObjectMeta = {...meta};
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation'] as const)
    setOrDelete(kept, field, structuredClone(old[field]) as never);
  setOrDelete(kept, 'managedFields', meta.managedFields ?? old.managedFields);
  return kept;
}

/** Custom resources, and built-in kinds that add nothing: no unconditional update, status left to whoever knows the schema. */
export const plain: Strategy = {plainFinalizers: true, allowUnconditionalUpdate: false};
