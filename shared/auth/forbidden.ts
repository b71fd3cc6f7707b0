/** What someone hears who may not do what they asked for. */
import {failure, type StatusError} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {Attributes} from './user.ts';

const entities: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;'};
const withoutMarkup = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character]!);

/** The 403 for these attributes. `reason` is an authorizer's, for people; it is often empty. */
export function forbiddenMessage(attributes: Attributes, reason = ''): StatusError {
  const {apiGroup: group, resource, name} = attributes;
  const why = withoutMarkup(cannot(attributes)) + (reason ? `: ${reason}` : '');
  const qualified = group ? `${resource}.${group}` : resource;
  const about = !attributes.isResourceRequest ? 'forbidden' : `${qualified}${name ? ` ${goQuote(name)}` : ''} is forbidden`;
  return failure(403, 'Forbidden', `${about}: ${why}`, {
    details: attributes.isResourceRequest ? {...(name && {name}), ...(group && {group}), ...(resource && {kind: resource})} : {},
    // The text holds parts of the request: no browser may take it for a page.
    headers: {'x-content-type-options': 'nosniff'},
  });
}

function cannot({user, verb, isResourceRequest, path, resource, subresource, apiGroup, namespace}: Attributes): string {
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${goQuote(path)}`;
  const what = goQuote(subresource ? `${resource}/${subresource}` : resource);
  const where = namespace ? `in the namespace ${goQuote(namespace)}` : 'at the cluster scope';
  return `${who} resource ${what} in API group ${goQuote(apiGroup)} ${where}`;
}
