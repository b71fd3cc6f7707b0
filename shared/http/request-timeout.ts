/**
 * The `timeout` that a request may name. Requests here are bounded by what carries them, so a good one changes nothing; a bad one is
 * refused before anybody asks whose request it is. Watches and streams have none.
 */
import {badRequest} from '../errors.ts';
import {durationFault, durationNanos} from '../schema/duration.ts';
import type {ApiRequest} from './messages.ts';
import type {RequestInfo} from './request-info.ts';

const streams = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** @throws StatusError 400 */
export function checkTimeout({verb, subresource}: RequestInfo, query: ApiRequest['query']): void {
  if (query.length === 0 || verb === 'watch' || streams.has(subresource)) return;
  const text = query.find(([name]) => name === 'timeout')?.[1];
  if (text && durationNanos(text) === undefined) throw badRequest(`invalid timeout specified in the request URL - ${durationFault(text)}`);
}
