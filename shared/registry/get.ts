/** GET of one object. */
import {notFound, tooLargeResourceVersion} from '../errors.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {queryValue} from '../http/request-info.ts';
import {parseRevision} from '../http/resource-version.ts';
import type {Stored} from '../storage/contract.ts';
import {type Handler, keyOf, type Machine, type RequestContext, subjectOf} from './context.ts';
import {asAlive, toldByConnections} from './node-leases.ts';
import type {Resource} from './resource.ts';
import {respondImage} from './respond.ts';
import {waitForRevision} from './wait.ts';

export const get: Handler = async (context) => {
  const {request} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  if (request.query.length > 0) await notOlderThan(context.machine, context.resource, queryValue(request.query, 'resourceVersion'));
  const stored = await readStored(context, context.info.name);
  const current = toldByConnections(context) ? await asAlive(context, stored) : stored;
  return respondImage(context, representation, current.image);
};

/** @throws StatusError 404 */
export async function readStored(context: Pick<RequestContext, 'machine' | 'resource' | 'info'>, name: string): Promise<Stored> {
  const stored = await context.machine.store.read(context.resource.storageType, keyOf(context, name));
  if (!stored) throw notFound(subjectOf(context.resource), name);
  return stored;
}

/** Waits a little for a version that this server has not reached. @throws StatusError 504, 400 for what is no version */
export async function notOlderThan(machine: Machine, resource: Resource, resourceVersion: string | undefined): Promise<void> {
  const wanted = parseRevision(resourceVersion);
  if (!wanted) return;
  const head = await waitForRevision(machine, resource.storageType, wanted);
  if (head < wanted) throw tooLargeResourceVersion(resourceVersion!, head);
}
