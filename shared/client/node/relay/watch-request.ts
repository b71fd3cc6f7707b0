/** Which requests are watches that can be carried over the WebSocket, and what they ask for. Pure; the others pass through as they are. */
import type {IncomingHttpHeaders} from 'node:http';
import type {Selection} from '../../../changes/protocol/messages.ts';
import {type ListOptions, listOptions} from '../../../http/list-options.ts';
import {negotiate, type Representation, watchOffer} from '../../../http/negotiate.ts';
import {queryValue, requestInfo} from '../../../http/request-info.ts';
import {parseRevision} from '../../../http/resource-version.ts';
import {parseTarget} from '../../../http/target.ts';

export interface WatchRequest {
  /** Without its query. */
  path: string;
  selection: Selection;
  representation: Representation;
  options: ListOptions;
  /** Events after this; 0 when the state comes first, or the watch begins now. */
  from: number;
  /** Whether the state comes first, as ADDED events. */
  withState: boolean;
}

/** Undefined for what is better answered by the server itself: mistakes, too, so that they are told in its words. */
export function watchRequest(method: string, url: string, headers: IncomingHttpHeaders): WatchRequest | undefined {
  if (method !== 'GET' || !/[?&]watch=/.test(url)) return undefined;
  // Somebody else than the user of the connection.
  if (Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return undefined;
  const target = parseTarget(url);
  if (!target) return undefined;
  try {
    const info = requestInfo('GET', target.path, target.query);
    if (!info.isResourceRequest || info.verb !== 'watch' || info.marker !== '' || info.subresource !== '' || info.parts.length !== 1)
      return undefined;
    const options = listOptions(target.query, true);
    const includeObject = queryValue(target.query, 'includeObject') ?? 'Metadata';
    const accept = jsonOf(headers.accept);
    if (options.continue !== '' || options.limit > 0 || includeObject !== 'Metadata' || accept === undefined) return undefined;
    const representation = negotiate({accept}, [], watchOffer);
    const from = parseRevision(options.resourceVersion) ?? 0;
    const withState = options.sendInitialEvents ?? from === 0;
    // A list of rows is not a row of each.
    if (representation.as?.kind === 'Table' && withState) return undefined;
    const {group, version, resource, namespace} = info;
    const {labelSelector, fieldSelector} = options;
    const selection = {collection: {group, version, resource, namespace}, labelSelector, fieldSelector, accept};
    return {path: target.path, selection, representation, options, from, withState};
  } catch {
    return undefined;
  }
}

/** What of an Accept header is JSON; undefined when nothing is. Clients that prefer Protobuf take JSON as well, and say so. */
function jsonOf(accept = 'application/json'): string | undefined {
  const clauses = accept.split(',').map((clause) => clause.trim());
  const json = clauses.filter((clause) => /^(application\/json|application\/\*|\*\/\*)\s*(;|$)/i.test(clause));
  return json.length > 0 ? json.join(',') : undefined;
}
