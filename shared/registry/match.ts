/** What a body says about where its object is must not disagree with the path. */
import {badRequest} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {RequestContext} from './context.ts';

/** The body may leave its namespace out, but not name another one. */
export function matchNamespace({resource, info}: Pick<RequestContext, 'resource' | 'info'>, object: KubeObject): void {
  const {metadata} = object;
  if (!resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (!metadata.namespace) metadata.namespace = info.namespace;
  else if (metadata.namespace !== info.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

export function matchName(context: Pick<RequestContext, 'info'>, object: KubeObject): void {
  const {name} = context.info;
  if (!object.metadata.name) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (object.metadata.name !== name)
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
}
