/** A watch: where it starts, in which form its events are, and when it ends. The stream itself is changes/watcher.ts. */
import {anonymous} from '../auth/user.ts';
import type {FeedEvent} from '../changes/hub.ts';
import type {Feed} from '../changes/protocol/feed.ts';
import type {Selection} from '../changes/protocol/messages.ts';
import {requestOf, topicId} from '../changes/protocol/topic.ts';
import {type EventType, eventTypeOf, type WatchEncoder, type WatchOptions, watchStream} from '../changes/watcher.ts';
import {notAcceptable, notFound, StatusError, tooLargeResourceVersion} from '../errors.ts';
import {type ListOptions, listOptions} from '../http/list-options.ts';
import type {ApiResponse} from '../http/messages.ts';
import {negotiate, type Representation, watchOffer} from '../http/negotiate.ts';
import {queryValue, requestInfo} from '../http/request-info.ts';
import {formatRevision, parseRevision} from '../http/resource-version.ts';
import {statusOf} from '../http/status.ts';
import {includeObjectPolicy} from '../http/table/include-object.ts';
import {toTable} from '../http/table/table.ts';
import {minWatchTimeoutMs} from '../limits.ts';
import {groupVersion, type KubeObject} from '../object.ts';
import {encodeProtobuf, encodeWatchFrame} from '../schema/protobuf/protobuf.ts';
import type {Change} from '../storage/contract.ts';
import {type Machine, prefixOf, type RequestContext} from './context.ts';
import {decodeImage} from './encode.ts';
import {allAsAlive, refreshOf, toldByConnections} from './node-leases.ts';
import type {Resource} from './resource.ts';
import {isPassThrough, partial, served} from './respond.ts';
import {itemFilter} from './selection.ts';
import {waitForRevision} from './wait.ts';

export async function watch(context: RequestContext, options: ListOptions): Promise<ApiResponse> {
  const {machine, resource, request} = context;
  const representation = negotiate(request.headers, request.query, watchOffer);
  const {prefix, matches} = scopeOf(context, options);
  const ofNodes = toldByConnections(context);
  if (request.asFeed && ofNodes) throw notAcceptable('renewals of nodes are told over HTTP only');
  if (request.asFeed) return {status: 200, headers: {}, feed: await feedOf(context, options, representation)};
  const encoder = encoderFor(context, representation);
  const wanted = parseRevision(options.resourceVersion) ?? 0;
  const common = {
    store: machine.store,
    hub: machine.hubs.of(resource.storageType),
    clock: machine.clock,
    encoder,
    prefix,
    ...(matches && {matches}),
  };
  const stream = {
    ...common,
    bookmarks: options.allowWatchBookmarks,
    timeoutMs: timeoutOf(options, request.deadline === undefined ? Number.POSITIVE_INFINITY : request.deadline - machine.clock.now()),
    signal: request.signal,
    drain: machine.drain,
    ...(ofNodes && {refresh: refreshOf(context, matches)}),
  };
  /** Counted from when nothing can fail any more. */
  const open = (more: Pick<WatchOptions, 'from' | 'initial' | 'initialEventsEnd'>) => {
    const {closed, replayed} = machine.metrics.watchStarted(resource);
    return {status: 200, headers, body: watchStream({...stream, ...more, onClose: closed, onReplay: replayed})};
  };
  const headers = {'cache-control': 'no-cache, private', 'content-type': representation.contentType};

  const fromNow = wanted === 0 && options.sendInitialEvents === false;
  const withState = options.sendInitialEvents ?? wanted === 0;
  if (!withState) {
    const from = fromNow ? await machine.store.head(resource.storageType) : wanted;
    return open({from});
  }
  if (wanted > 0) {
    const head = await waitForRevision(machine, resource.storageType, wanted);
    if (head < wanted) return {status: 200, headers, body: only(encoder.error(tooLargeResourceVersion(options.resourceVersion, head)))};
  }
  const scan = await machine.store.scan(resource.storageType, {prefix, ...(matches && {filter: matches})});
  const initial = ofNodes ? await allAsAlive(context, scan.items) : scan.items;
  return open({from: scan.revision, initial, initialEventsEnd: options.allowWatchBookmarks});
}

/** What of a type the request wants to see. @throws StatusError 400 for selectors that cannot be read */
function scopeOf(context: RequestContext, options: ListOptions): Pick<WatchOptions, 'prefix' | 'matches'> {
  const selected = itemFilter(context, options);
  const prefix = prefixOf(context);
  const named = context.info.name !== '' && context.info.fieldSelector === '' ? context.info.name : undefined;
  if (named === undefined) return {prefix, ...(selected && {matches: selected})};
  return {prefix, matches: (item) => nameOf(item.key) === named && (selected?.(item) ?? true)};
}

/** A watch for those who frame its events themselves: docs/watch-protocol.md. @throws StatusError 406 for what is no JSON */
async function feedOf(context: RequestContext, options: ListOptions, representation: Representation): Promise<Feed> {
  const {info, resource, machine, request} = context;
  if (representation.format !== 'json' || representation.pretty) throw notAcceptable('events are framed as JSON only');
  const {group, version, namespace} = info;
  const {labelSelector, fieldSelector} = options;
  const accept = request.headers['accept'] ?? 'application/json';
  const scope = scopeOf(context, options);
  const encoder = encoderFor(context, representation, true);
  return {
    topic: await topicId({collection: {group, version, resource: info.resource, namespace}, labelSelector, fieldSelector, accept}),
    hub: machine.hubs.of(resource.storageType),
    line(event) {
      const type = eventTypeOf(event.change, scope);
      return type && encoder.event(type, event);
    },
  };
}

/** The feed of a selection that was authorized when somebody subscribed with it. @throws StatusError for what is not served any more */
export async function feedFor(machine: Machine, selection: Selection): Promise<Feed> {
  const request = requestOf(selection);
  const info = requestInfo(request.method, request.path, request.query);
  const resource = machine.catalogue.find(info.group, info.version, info.resource);
  if (!resource) throw notFound({group: info.group, resource: info.resource}, '');
  const context: RequestContext = {machine, request, info, resource, user: anonymous, warnings: []};
  return feedOf(context, listOptions(request.query, true), negotiate(request.headers, request.query, watchOffer));
}

const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1);

async function* only(frame: Uint8Array): AsyncGenerator<Uint8Array> {
  yield frame;
}

/** Watches without a timeout end by chance within the second half of their time, so that clients do not return all at once. */
function timeoutOf({timeoutSeconds = 0}: ListOptions, longestMs: number): number {
  if (timeoutSeconds > 0) return Math.min(timeoutSeconds * 1000, longestMs);
  const mostMs = Math.min(2 * minWatchTimeoutMs, longestMs);
  return (mostMs / 2) * (1 + Math.random());
}

interface Form {
  events: Record<EventType, EventForm>;
  /** `image` is a stored image; `resourceVersion` overrides the one in it. */
  frame(type: EventType, image: Uint8Array, resourceVersion?: string): Uint8Array;
  /** Bookmarks and errors. */
  plain(type: 'BOOKMARK' | 'ERROR', object: object): Uint8Array;
}

/** Made once, and for images that are sent as they are once for all watches: a hundred watchers of a change look its frame up. */
interface EventForm {
  /** Names the form among the encodings of an event. */
  key: string;
  encode(change: Change): Uint8Array;
}

function eventForms(name: string, frame: Form['frame']): Form['events'] {
  const of = (type: EventType): EventForm => ({
    key: `${name} ${type}`,
    encode(change) {
      // Letting go of an object shows its last state that matched, under the revision at which it stopped to.
      const last = type === 'DELETED' && change.operation !== 'delete' ? lastImage(change) : change.image;
      return frame(type, last, last === change.image ? undefined : formatRevision(change.revision));
    },
  });
  return {ADDED: of('ADDED'), MODIFIED: of('MODIFIED'), DELETED: of('DELETED')};
}

function encoderFor(context: RequestContext, representation: Representation, shared = false): WatchEncoder {
  const {resource} = context;
  const form = formFor(context, representation, shared);
  return {
    event: (type, event: FeedEvent) => event.frame(form.events[type].key, form.events[type].encode),
    initial: (item) => form.frame('ADDED', item.image),
    refreshed: (item) => form.frame('MODIFIED', item.image),
    bookmark: (revision, initialEventsEnd) => form.plain('BOOKMARK', bookmarkObject(resource, formatRevision(revision), initialEventsEnd)),
    error: (error) => form.plain('ERROR', errorStatus(error)),
  };
}

const lastImage = (change: Change): Uint8Array => change.previousImage ?? change.image;

function errorStatus(error: unknown): object {
  if (error instanceof StatusError) return error.status;
  return statusOf(error).status;
}

const bookmarkObject = (resource: Resource, resourceVersion: string, initialEventsEnd: boolean): KubeObject => ({
  kind: resource.kind,
  apiVersion: groupVersion(resource),
  metadata: {resourceVersion, ...(initialEventsEnd && {annotations: {'k8s.io/initial-events-end': 'true'}})},
});

function formFor(context: RequestContext, representation: Representation, shared: boolean): Form {
  const {resource} = context;
  if (isPassThrough(representation, resource)) return storedForm;
  const transform = transformFor(context, representation, shared);
  const encode = representation.format === 'protobuf' ? protobufFrame : jsonFrame;
  const frame: Form['frame'] = (type, image, resourceVersion) => {
    const stored = decodeImage(image);
    const object = served(resource, stored);
    if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
    return encode(type, transform.apply(object, stored));
  };
  return {
    events: eventForms(`${groupVersion(resource)} ${representation.format} ${transform.key}`, frame),
    frame,
    plain: (type, object) => encode(type, type === 'BOOKMARK' ? transform.apply(object as KubeObject) : object),
  };
}

function transformFor(
  context: RequestContext,
  representation: Representation,
  shared: boolean,
): {key: string; apply(object: KubeObject, stored?: KubeObject): object} {
  const {as} = representation;
  if (!as) return {key: '', apply: (object) => object};
  if (as.kind !== 'Table') return {key: `partial ${as.version}`, apply: (object) => partial(object, as.version)};
  const includeObject = includeObjectPolicy(queryValue(context.request.query, 'includeObject'));
  const {resource, machine} = context;
  // Only the first table of a watch names its columns, so its frames are its own. Where frames are shared all of them do.
  let first = true;
  return {
    key: `table ${as.version} ${includeObject} ${shared ? 'shared' : crypto.randomUUID()}`,
    apply: (object, stored) => {
      const omitHeaders = !first && !shared;
      first = false;
      const listMeta = {resourceVersion: object.metadata.resourceVersion ?? ''};
      return toTable(
        {items: [object], ...(stored && {stored: [stored]}), listMeta, resource, single: true},
        {version: as.version, includeObject, now: machine.clock.now(), omitHeaders},
      );
    },
  };
}

const heads: Record<EventType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const frameTail = Buffer.from('}\n');

function joinedFrame(type: EventType, image: Uint8Array, resourceVersion?: string): Uint8Array {
  if (resourceVersion) {
    const object = decodeImage(image);
    object.metadata.resourceVersion = resourceVersion;
    return jsonFrame(type, object);
  }
  return Buffer.concat([heads[type], image.subarray(0, image.length - 1), frameTail]);
}

const jsonFrame = (type: string, object: object): Uint8Array => Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);

const protobufFrame = (type: string, object: object): Uint8Array => encodeWatchFrame(type, encodeProtobuf(object as KubeObject));

const storedForm: Form = {events: eventForms('stored', joinedFrame), frame: joinedFrame, plain: jsonFrame};
