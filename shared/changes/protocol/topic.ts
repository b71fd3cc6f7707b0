/**
 * A topic is everything that decides which events are sent and how they look: whoever asks for the same gets the same bytes. So an
 * event is encoded and framed once for each topic, and the last revision sent on it is one number for all its subscribers.
 */
import {sha256Base64} from '../../http/hash.ts';
import type {Selection} from './messages.ts';

const idBytes = 15;

/** Two selections of one meaning and different spelling are two topics: that costs a little and breaks nothing. */
export function topicText({collection, labelSelector, fieldSelector, accept}: Selection): string {
  const {group, version, resource, namespace} = collection;
  return JSON.stringify([group, version, resource, namespace, labelSelector, fieldSelector, accept]);
}

/** The inverse: what is kept with a topic says all that is needed to encode for it. */
export function selectionOf(text: string): Selection {
  const [group, version, resource, namespace, labelSelector, fieldSelector, accept] = JSON.parse(text) as string[];
  return {
    collection: {group: group!, version: version!, resource: resource!, namespace: namespace!},
    labelSelector: labelSelector!,
    fieldSelector: fieldSelector!,
    accept: accept!,
  };
}

/** Short, the same in every process, and of characters that keys and JSON take as they are. */
export async function topicId(selection: Selection): Promise<string> {
  const digest = await sha256Base64(topicText(selection), idBytes);
  return digest.replaceAll('+', '-').replaceAll('/', '_');
}

/** The request that a selection stands for: what is looked at to authorize it and to read its selectors. */
export function requestOf({collection, labelSelector, fieldSelector, accept}: Selection): {
  method: 'GET';
  path: string;
  query: [string, string][];
  headers: {accept: string};
} {
  const {group, version, resource, namespace} = collection;
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const query: [string, string][] = [['watch', '1']];
  if (labelSelector) query.push(['labelSelector', labelSelector]);
  if (fieldSelector) query.push(['fieldSelector', fieldSelector]);
  return {method: 'GET', path: `${root}${namespace ? `/namespaces/${namespace}` : ''}/${resource}`, query, headers: {accept}};
}
