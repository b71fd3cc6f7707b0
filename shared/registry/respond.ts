/** From stored objects to answers in the form that was negotiated. Where stored and served form agree, bytes are passed on or joined; nothing is parsed. */
import {convert} from '../convert/convert.ts';
import {notAcceptable} from '../errors.ts';
import type {ApiResponse} from '../http/messages.ts';
import type {Representation} from '../http/negotiate.ts';
import {queryValue} from '../http/request-info.ts';
import {includeObjectPolicy} from '../http/table/include-object.ts';
import {toTable} from '../http/table/table.ts';
import {groupVersion, type KubeObject, type ObjectMeta} from '../object.ts';
import {encodeProtobuf} from '../schema/protobuf/protobuf.ts';
import {stringifyYaml} from '../schema/yaml.ts';
import type {Stored} from '../storage/contract.ts';
import type {RequestContext} from './context.ts';
import {decodeImage, typeMetaLength} from './encode.ts';
import type {Resource} from './resource.ts';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** Stored bytes are the answer as they stand. */
export const isPassThrough = (representation: Representation, resource: Resource): boolean =>
  representation.format === 'json' && !representation.pretty && !representation.as && isStoredVersion(resource);

export const isStoredVersion = (resource: Resource): boolean =>
  resource.version === resource.storage.version && resource.group === resource.storage.group;

export const headersFor = (representation: Representation): Record<string, string> => ({
  'cache-control': 'no-cache, private',
  'content-type': representation.contentType,
});

export function respondImage(context: RequestContext, representation: Representation, image: Uint8Array, status = 200): ApiResponse {
  if (isPassThrough(representation, context.resource)) return {status, headers: headersFor(representation), body: image};
  const stored = decodeImage(image);
  return respondObject(context, representation, served(context.resource, stored), status, stored);
}

/** `object` is in the version of the request; `stored`, where there is one, in the store's: Tables are printed from it. */
export function respondObject(
  context: RequestContext,
  representation: Representation,
  object: KubeObject,
  status = 200,
  stored?: KubeObject,
): ApiResponse {
  return {
    status,
    headers: headersFor(representation),
    body: encodeBody(representation, transform(context, representation, object, stored)),
  };
}

/** The stored object in the version that the request asks for. */
export const served = (resource: Resource, object: KubeObject): KubeObject =>
  isStoredVersion(resource) ? object : convert(object, {group: resource.group, version: resource.version});

export function respondList(
  context: RequestContext,
  representation: Representation,
  items: readonly Stored[],
  meta: ListMeta,
): ApiResponse {
  const {resource} = context;
  const headers = headersFor(representation);
  if (isPassThrough(representation, resource)) return {status: 200, headers, body: joinList(resource, items, meta)};
  const stored = items.map((item) => decodeImage(item.image));
  const objects = isStoredVersion(resource) ? stored : stored.map((object) => served(resource, object));
  return {status: 200, headers, body: encodeBody(representation, transformList(context, representation, {items: objects, stored}, meta))};
}

/** Objects that were never stored, as a list. */
export function respondObjects(
  context: RequestContext,
  representation: Representation,
  items: KubeObject[],
  meta: Partial<ListMeta>,
): ApiResponse {
  const body = encodeBody(representation, transformList(context, representation, {items}, meta as ListMeta));
  return {status: 200, headers: headersFor(representation), body};
}

export function listHead(resource: Resource, meta: ListMeta): string {
  const kind = JSON.stringify(resource.listKind);
  return `{"kind":${kind},"apiVersion":${JSON.stringify(groupVersion(resource))},"metadata":${JSON.stringify(meta)},"items":[`;
}

export const listTail = Buffer.from(']}\n');

/** The items of a list as one piece: images without their type meta, with commas between them. */
export function joinItems(resource: Resource, items: readonly Stored[]): Buffer {
  const skip = typeMetaLength({kind: resource.kind, ...resource.storage});
  let length = 0;
  for (const item of items) length += item.image.length - skip + 1;
  const joined = Buffer.allocUnsafe(Math.max(length - 1, 0));
  let at = 0;
  for (const {image} of items) {
    if (at > 0) joined[at++] = 0x2c;
    joined[at++] = 0x7b;
    joined.set(image.subarray(skip, image.length - 1), at);
    at += image.length - skip - 1;
  }
  return at === joined.length ? joined : joined.subarray(0, at);
}

const joinList = (resource: Resource, items: readonly Stored[], meta: ListMeta): Buffer =>
  Buffer.concat([Buffer.from(listHead(resource, meta)), joinItems(resource, items), listTail]);

/** An object, or a Status: anything that is served and is no list of images. */
export function encodeBody(representation: Representation, object: object): Uint8Array {
  switch (representation.format) {
    case 'yaml':
      return Buffer.from(stringifyYaml(object));
    case 'protobuf':
      return encodeProtobuf(object as KubeObject);
    default:
      return Buffer.from(representation.pretty ? `${JSON.stringify(object, null, 2)}\n` : `${JSON.stringify(object)}\n`);
  }
}

function transform(context: RequestContext, representation: Representation, object: KubeObject, stored?: KubeObject): object {
  const {as} = representation;
  if (!as) return object;
  if (as.kind === 'PartialObjectMetadata') return partial(object, as.version);
  if (as.kind === 'PartialObjectMetadataList')
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (*${goPackage(context.resource)}.${object.kind})`,
    );
  return tableOf(
    context,
    as.version,
    {items: [object], ...(stored && {stored: [stored]})},
    {resourceVersion: object.metadata.resourceVersion ?? ''},
    true,
  );
}

function transformList(context: RequestContext, representation: Representation, objects: Printable, meta: ListMeta): object {
  const {as} = representation;
  const {resource} = context;
  if (!as) {
    const items = objects.items.map(({kind: _kind, apiVersion: _version, ...rest}) => rest);
    return {kind: resource.listKind, apiVersion: groupVersion(resource), metadata: meta, items};
  }
  if (as.kind === 'PartialObjectMetadata')
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (*${goPackage(resource)}.${resource.listKind})`,
    );
  if (as.kind === 'PartialObjectMetadataList')
    return {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${as.version}`,
      metadata: meta,
      items: objects.items.map((object) => partial(object, as.version)),
    };
  return tableOf(context, as.version, objects, meta, false);
}

/** The internal package that the reference names in these messages. */
const goPackage = (resource: Resource): string => (resource.group === '' ? 'core' : resource.group.split('.')[0]!);

export const partial = (object: {metadata: ObjectMeta}, version: 'v1' | 'v1beta1'): KubeObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
});

/** What a Table shows, and the stored forms of it that its cells are printed from. */
interface Printable {
  items: KubeObject[];
  stored?: KubeObject[];
}

function tableOf(context: RequestContext, version: 'v1' | 'v1beta1', objects: Printable, listMeta: ListMeta, single: boolean): object {
  return toTable(
    {...objects, listMeta, resource: context.resource, single},
    {version, includeObject: includeObjectPolicy(queryValue(context.request.query, 'includeObject')), now: context.machine.clock.now()},
  );
}
