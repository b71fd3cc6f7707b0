/** From an object to the bytes that are stored and served, and back. The stored form is the served JSON, resourceVersion included. */
import {formatRevision} from '../http/resource-version.ts';
import {groupVersion, type KubeObject, type ObjectMeta} from '../object.ts';
import type {Revision} from '../storage/contract.ts';

/** The order of ObjectMeta's fields on the wire. */
const metaOrder: readonly (keyof ObjectMeta)[] = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

export function orderedMeta(meta: ObjectMeta): ObjectMeta {
  const ordered: Record<string, unknown> = {};
  for (const field of metaOrder) {
    const value = meta[field];
    if (value !== undefined) ordered[field] = value;
  }
  return ordered as ObjectMeta;
}

/** kind, apiVersion and metadata first, as every served object begins. */
export function orderedObject(object: KubeObject): KubeObject {
  const {kind, apiVersion, metadata, ...rest} = object;
  return {kind, apiVersion, metadata: orderedMeta(metadata), ...rest};
}

const mark = '"resourceVersion":"@"';

/** Encodes all but the revision now, so that the store only has to splice it in. */
export function imageEncoder(object: KubeObject): (revision: Revision) => Uint8Array {
  const json = JSON.stringify(orderedObject({...object, metadata: {...object.metadata, resourceVersion: '@'}}));
  // What stands before it (names, uid) cannot contain a quote, so the first one is ours.
  const at = json.indexOf(mark) + mark.length - 2;
  const head = json.slice(0, at);
  // Served JSON ends with a newline; kept with the image, a GET is the image.
  const tail = `${json.slice(at + 1)}\n`;
  return (revision) => Buffer.from(head + formatRevision(revision) + tail);
}

export const decodeImage = (image: Uint8Array): KubeObject =>
  JSON.parse(Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString());

/** How many bytes of an image of this kind its type meta takes: the items of a list leave them out. */
export const typeMetaLength = (kind: {kind: string; group: string; version: string}): number =>
  `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(groupVersion(kind))},`.length;
