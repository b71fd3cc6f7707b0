/** Every handler: a total map, so that a verb without one does not compile. Each function has the part in ./served that it is named after. */
import type {Handler} from './context.ts';
import type {ResourceVerb} from './dispatch.ts';
import {metricsGroup} from './figures/metrics.ts';
import {connecting} from './served/connect.ts';
import {creating} from './served/create.ts';
import {deleting} from './served/delete.ts';
import {deletingCollections} from './served/delete-collection.ts';
import {getting} from './served/get.ts';
import {listing} from './served/list.ts';
import {patching} from './served/patch.ts';
import {reviewing} from './served/review.ts';
import {updating} from './served/update.ts';

const createOrReview: Handler = (context) => {
  const {virtual, resource} = context.resource;
  return virtual && resource !== 'bindings' ? reviewing.create(context) : creating.create(context);
};

/** Figures of nodes are read where the way to nodes is. */
const measuredOr =
  (asked: Handler, stored: Handler): Handler =>
  (context) =>
    (context.resource.group === metricsGroup ? asked : stored)(context);

export const handlers: Record<ResourceVerb, Handler> = {
  ...creating,
  create: createOrReview,
  ...getting,
  ...listing,
  ...updating,
  ...patching,
  ...deleting,
  ...deletingCollections,
  ...connecting,
  get: measuredOr(connecting.get, getting.get),
  list: measuredOr(connecting.list, listing.list),
};
