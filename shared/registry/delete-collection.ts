/** DELETE of a collection: each selected object is deleted as if by itself. Interrupted, it is simply sent again. */
import {isReason} from '../errors.ts';
import {deleteOptions} from '../http/delete-options.ts';
import {listOptions} from '../http/list-options.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {formatRevision} from '../http/resource-version.ts';
import type {Stored} from '../storage/contract.ts';
import {type Handler, prefixOf, type RequestContext} from './context.ts';
import {deleteObject} from './delete.ts';
import {respondList} from './respond.ts';
import {itemFilter} from './selection.ts';

const pageItems = 500;
/** So many deletes are under way at once: they share the store's group commit. */
const parallel = 32;

export const deleteCollection: Handler = async (context) => {
  const {request, machine, resource} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const selection = listOptions(request.query);
  const options = deleteOptions(request, resource);
  const filter = itemFilter(context, selection);
  const deleted: Stored[] = [];
  const prefix = prefixOf(context);
  let after: string | undefined;
  let revision = 0;
  for (;;) {
    const page = await machine.store.scan(resource.storageType, {
      prefix,
      limit: pageItems,
      ...(after !== undefined && {after}),
      ...(filter && {filter}),
    });
    revision = page.revision;
    for (let at = 0; at < page.items.length; at += parallel) {
      if (request.signal?.aborted) break;
      await Promise.all(page.items.slice(at, at + parallel).map((item) => deleteOne(context, item, options)));
    }
    deleted.push(...page.items);
    after = page.items[page.items.length - 1]?.key;
    if (!page.more || after === undefined || request.signal?.aborted) break;
  }
  return respondList(context, representation, deleted, {resourceVersion: formatRevision(revision)});
};

async function deleteOne(context: RequestContext, item: Stored, options: ReturnType<typeof deleteOptions>): Promise<void> {
  const slash = item.key.indexOf('/');
  const namespace = context.resource.namespaced ? item.key.slice(0, slash) : '';
  const name = context.resource.namespaced ? item.key.slice(slash + 1) : item.key;
  try {
    await deleteObject({...context, info: {...context.info, namespace, name}}, name, options);
  } catch (error) {
    // Somebody else removed it between the scan and now: what was asked for has happened.
    if (!isReason(error, 'NotFound')) throw error;
  }
}
