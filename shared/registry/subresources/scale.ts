/** scale: writing a Scale writes its workload. Reading one is ./scale-get.ts. */
import {applyScale, scaleOf} from '../../convert/scale.ts';
import type {ApiResponse} from '../../http/messages.ts';
import {negotiate, objectOffer} from '../../http/negotiate.ts';
import {writeOptions} from '../../http/write-options.ts';
import type {KubeObject} from '../../object.ts';
import {decodeBody} from '../body.ts';
import type {Handler, RequestContext} from '../context.ts';
import {decodeImage} from '../encode.ts';
import {matchName, matchNamespace} from '../match.ts';
import {decodePatchedAs, patcherFor, refuseUnknownPatch} from '../patch.ts';
import {respondObject} from '../respond.ts';
import {type Updated, updateObject} from '../update.ts';
import {asScale, scaleKind} from './scale-get.ts';

export const updateScale: Handler = async (context) => {
  const {request} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const options = writeOptions('UpdateOptions', request.query);
  const scale = decodeBody(context, scaleKind, options.fieldValidation);
  matchName(context, scale);
  matchNamespace(context, scale);
  const written = await updateObject(context, options, (old) => withScale(old, scale));
  return respondScale(context, representation, written);
};

export const patchScale: Handler = async (context) => {
  const {request} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const scaleContext = asScale(context);
  refuseUnknownPatch(request.headers);
  const options = writeOptions('PatchOptions', request.query);
  const patcher = patcherFor(scaleContext, options.fieldValidation);
  const written = await updateObject(context, options, (old) => {
    const scale = decodePatchedAs(context, scaleKind, patcher.apply(scaleOf(old)), options.fieldValidation, patcher);
    matchName(context, scale);
    matchNamespace(context, scale);
    return withScale(old, scale);
  });
  return respondScale(context, representation, written);
};

function withScale(old: KubeObject, scale: KubeObject): KubeObject {
  const object = structuredClone(old);
  applyScale(object, scale);
  // The Scale's own precondition, not the version it was read at.
  object.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
  if (scale.metadata.uid) object.metadata.uid = scale.metadata.uid;
  return object;
}

const respondScale = (context: RequestContext, representation: ReturnType<typeof negotiate>, written: Updated): ApiResponse =>
  respondObject(asScale(context), representation, scaleOf(written.stored ? decodeImage(written.stored.image) : written.object));
