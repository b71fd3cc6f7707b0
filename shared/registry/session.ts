/**
 * A request over a store that other processes write as well: it begins with what decides it brought up to date, in the round trip that
 * reads its object, and begins again when that changes before its write. Engines that own their data need none of it.
 */
import type {ApiRequest} from '../http/messages.ts';
import type {RequestInfo} from '../http/request-info.ts';
import {isStoreError, type Session, type Store} from '../storage/contract.ts';
import type {Machine} from './context.ts';
import type {Resource} from './resource.ts';

/** Configuration that changes this often while one request runs is a storm: its client is told to come again. */
const maxBeginnings = 8;

type Begin = NonNullable<Store['begin']>;

/**
 * `work` gets a machine whose store is the request's session; it may be called several times, so it must leave nothing behind when it throws.
 * A create begins without a call: what it decided by is checked between its reservation and its commit. If that has moved it begins
 * again, exactly informed, and from then on only its guard can stop it.
 */
export async function inSession<T>(
  machine: Machine,
  begin: Begin,
  {info, resource, request}: {info: RequestInfo; resource: Resource | undefined; request?: Pick<ApiRequest, 'deadline'>},
  work: (machine: Machine) => Promise<T>,
): Promise<T> {
  const ahead = aheadOf(info, resource);
  const bounds = request?.deadline === undefined ? {} : {deadline: request.deadline};
  let optimistic = info.verb === 'create' && info.subresource === '' && resource?.virtual !== true && info.isResourceRequest;
  for (let beginning = 1; ; beginning++) {
    const session = await begin.call(machine.store, {...(ahead && !optimistic && {ahead}), optimistic, ...bounds});
    // After a long sleep the store may have told a cache that history is gone: until it has listed anew, what it holds decides nothing.
    await machine.caches.behind();
    try {
      const answer = await work({...machine, store: session});
      // A dry run has appended nothing that would have checked.
      if (optimistic) await session.confirm();
      return answer;
    } catch (error) {
      const again = isStoreError(error, 'ConfigurationMoved') || (optimistic && (await hasMoved(session)));
      if (!again || beginning >= maxBeginnings) throw error;
    }
    optimistic = false;
  }
}

/** A refusal may rest on what is no longer so. */
async function hasMoved(session: Session): Promise<boolean> {
  try {
    await session.confirm();
    return false;
  } catch (error) {
    if (isStoreError(error, 'ConfigurationMoved')) return true;
    throw error;
  }
}

function aheadOf(info: RequestInfo, resource: Resource | undefined): {type: string; key?: string} | undefined {
  if (!resource || resource.virtual) return undefined;
  const type = resource.storageType;
  if (info.parts.length < 2) return {type};
  return {type, key: resource.namespaced ? `${info.namespace}/${info.name}` : info.name};
}
