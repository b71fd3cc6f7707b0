/** The way to a node as a handler goes it: what is in the way becomes a Status that says so. */
import type {Duplex} from 'node:stream';
import {gatewayTimeout, isReason, type StatusError, serviceUnavailable} from '../../errors.ts';
import type {ApiResponse} from '../../http/messages.ts';
import type {Exchanged} from '../../nodes/exchange.ts';
import type {Destination} from '../../nodes/roads.ts';
import type {KubeObject} from '../../object.ts';
import type {RequestContext} from '../context.ts';

export const dialing = 'error dialing backend';
export const reaching = 'error trying to reach service';

/** @throws StatusError 503, 504 that begins with `words`; 400 for an address that no proxy goes to */
export async function dialRoad(
  {machine, request, info}: RequestContext,
  node: KubeObject | undefined,
  to: Destination,
  words: string = dialing,
): Promise<Duplex> {
  if (!machine.nodes) throw serviceUnavailable(`${words}: this server knows no way to nodes`);
  const proxied = info.subresource === 'proxy' && to === 'agent';
  try {
    return await machine.nodes.dial(node, to, {...(request.signal && {signal: request.signal}), ...(proxied && {proxied})});
  } catch (error) {
    throw isReason(error, 'BadRequest') ? error : inTheWay(error, words);
  }
}

/** @throws StatusError 503 */
export async function askRoad(road: Duplex, exchanged: Exchanged, {request}: RequestContext): Promise<ApiResponse> {
  const {exchange} = await import('../../nodes/exchange.ts');
  try {
    return await exchange(road, {...exchanged, ...(request.signal && {signal: request.signal})});
  } catch (error) {
    throw inTheWay(error, dialing);
  }
}

export function inTheWay(error: unknown, words: string): StatusError {
  const message = `${words}: ${(error as Error).message}`;
  return isReason(error, 'Timeout') ? gatewayTimeout(message) : serviceUnavailable(message);
}

/** Nobody will read it. */
export function discard({body}: ApiResponse): void {
  if (body && !(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.();
}
