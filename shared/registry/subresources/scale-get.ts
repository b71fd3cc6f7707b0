/** scale: the replicas of a workload as a kind of their own. Writing it is ./scale.ts. */
import {scaleOf} from '../../convert/scale.ts';
import {negotiate, objectOffer} from '../../http/negotiate.ts';
import type {Handler, RequestContext} from '../context.ts';
import {decodeImage} from '../encode.ts';
import {readStored} from '../get.ts';
import {respondObject} from '../respond.ts';

export const scaleKind = {group: 'autoscaling', version: 'v1', kind: 'Scale'};

export const getScale: Handler = async (context) => {
  const representation = negotiate(context.request.headers, context.request.query, objectOffer);
  const stored = await readStored(context, context.info.name);
  return respondObject(asScale(context), representation, scaleOf(decodeImage(stored.image)));
};

/** The same request, seen as one for a Scale: Tables and patches go by that kind. */
export const asScale = (context: RequestContext): RequestContext => ({
  ...context,
  resource: {...context.resource, ...scaleKind, resource: 'scales', listKind: 'ScaleList', storage: scaleKind},
});
