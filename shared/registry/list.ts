/** GET of a collection: the newest state, an exact older one, or the next chunk of one. A watch is the same route: see watch.ts. */
import type {CollectionView} from '../changes/collection.ts';
import {badRequest, tooLargeResourceVersion} from '../errors.ts';
import {type ContinueToken, decodeContinue, encodeContinue, expiredContinue, expiredList} from '../http/continue.ts';
import {type ListOptions, listOptions} from '../http/list-options.ts';
import {listOffer, negotiate} from '../http/negotiate.ts';
import {formatRevision, parseRevision} from '../http/resource-version.ts';
import {isStoreError, type Revision, type Scan, type ScanOptions, type Stored} from '../storage/contract.ts';
import {type Handler, prefixOf, type RequestContext} from './context.ts';
import {notOlderThan} from './get.ts';
import {allAsAlive, toldByConnections} from './node-leases.ts';
import type {Resource} from './resource.ts';
import {headersFor, isPassThrough, joinItems, type ListMeta, listHead, listTail, respondList} from './respond.ts';
import {type ItemFilter, itemFilter} from './selection.ts';
import {watch} from './watch.ts';

export const list: Handler = async (context) => {
  const {request, info} = context;
  const options = listOptions(request.query, info.verb === 'watch');
  if (options.watch) return watch(context, options);
  const representation = negotiate(request.headers, request.query, listOffer);
  const filter = itemFilter(context, options);
  const range = await rangeOf(context, options);
  if (toldByConnections(context)) {
    const {items, meta} = await readRange(context, range, filter);
    return respondList(context, representation, await allAsAlive(context, items), meta);
  }
  if (!filter && range.at === undefined && !range.limit && !range.after) {
    const view = await context.machine.collections.view(context.resource.storageType, prefixOf(context));
    if (view && isPassThrough(representation, context.resource)) {
      const body = joinedBody(context.resource, view);
      return {status: 200, headers: headersFor(representation), body};
    }
    if (view) return respondList(context, representation, view.items, {resourceVersion: formatRevision(view.revision)});
  }
  const {items, meta} = await readRange(context, range, filter);
  return respondList(context, representation, items, meta);
};

/** The same array for lists of the same revision: not copied for each of them, and compressed once by whoever compresses. */
function joinedBody(resource: Resource, {revision, items, derived}: CollectionView): Buffer {
  const kept = derived.get('body') as {revision: Revision; body: Buffer} | undefined;
  if (kept?.revision === revision) return kept.body;
  const head = Buffer.from(listHead(resource, {resourceVersion: formatRevision(revision)}));
  // Writes to other types move the revision and nothing else: the joined items are then still those of the last body.
  const joined = kept ? kept.body.subarray(kept.body.indexOf(itemsMark) + itemsMark.length, -listTail.length) : joinItems(resource, items);
  const body = Buffer.concat([head, joined, listTail]);
  derived.set('body', {revision, body});
  return body;
}

const itemsMark = '"items":[';

interface Range {
  /** Exactly this revision; the newest when absent. */
  at?: Revision;
  after?: string;
  limit?: number;
  /** The token this chunk was asked for with. */
  token?: ContinueToken;
}

/** What part of which version the client asks for: the table of resourceVersion, resourceVersionMatch, limit and continue. */
async function rangeOf(context: RequestContext, options: ListOptions): Promise<Range> {
  const {machine, resource} = context;
  const limit = options.limit > 0 ? {limit: options.limit} : {};
  if (options.continue !== '') {
    const token = decodeContinue(options.continue);
    if (options.resourceVersion !== '' && options.resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    const expired = token.time !== undefined && machine.clock.now() - token.time > machine.continueTokenTtlMs;
    if (expired) throw expiredContinue(token.start);
    return {...limit, after: token.start, token, ...(token.revision > 0 && {at: token.revision})};
  }
  const wanted = parseRevision(options.resourceVersion);
  // Any version will do: the reference answers from its cache, all at once whatever the limit, for the types that it caches.
  if (wanted === 0 && resource.storageType !== 'events') return {};
  if (!wanted) return limit;
  await notOlderThan(machine, resource, options.resourceVersion);
  const exact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0);
  return exact ? {...limit, at: wanted} : limit;
}

/** @throws StatusError 410 when the version is no longer kept */
async function readRange(
  context: RequestContext,
  range: Range,
  filter: ItemFilter | undefined,
): Promise<{items: Stored[]; meta: ListMeta}> {
  const {machine, resource} = context;
  const prefix = prefixOf(context);
  const scanOptions: ScanOptions = {
    prefix,
    ...(range.after !== undefined && {after: prefix + range.after}),
    ...(range.limit !== undefined && {limit: range.limit}),
    ...(range.at !== undefined && {at: range.at}),
    ...(filter && {filter}),
  };
  let scan: Scan;
  try {
    scan = await machine.store.scan(resource.storageType, scanOptions);
  } catch (error) {
    if (isStoreError(error, 'Compacted')) throw range.token ? expiredContinue(range.token.start) : expiredList();
    if (isStoreError(error, 'Future')) throw tooLargeResourceVersion(range.at ?? 0, error.revision ?? 0);
    throw error;
  }
  const meta: ListMeta = {resourceVersion: formatRevision(scan.revision)};
  const last = scan.items[scan.items.length - 1];
  if (scan.more && last) {
    const time = range.token?.time ?? machine.clock.now();
    meta.continue = encodeContinue({revision: scan.revision, start: last.key.slice(prefix.length), time});
    if (!filter && scan.remaining !== undefined) meta.remainingItemCount = scan.remaining;
  }
  return {items: scan.items, meta};
}
