/** Who uses the store over DynamoDB in a simulation, how many of each, and what is held against the promises at the end. */

import type {Store} from '../../../shared/storage/contract.ts';
import {type World as Clients, compactor, lister, reader, watcher, writer} from '../clients.ts';
import {broken, type History, itemOf} from '../history.ts';
import type {Process} from './process.ts';
import {creator, keeper, Listening, namespaces, pods, type Requests, requester, roles} from './sessions.ts';

export const types = [pods, roles, namespaces];

export interface Counts {
  writes: number;
  acknowledged: number;
  reads: number;
  lists: number;
  watches: number;
  changes: number;
  emptied: number;
}

export interface Place extends Pick<Clients, 'history' | 'random' | 'running' | 'image'> {
  pause(): Promise<void>;
  /** Any of them. */
  process(): Process;
}

export function populate(place: Place) {
  const {history, random, process} = place;
  const some = (most: number): number => Math.floor(random() * (most + 1));
  const clients: Clients = {
    ...place,
    store: () => process().store,
    types: [pods, pods, roles],
    namespaces: 1 + some(1),
    names: 1 + some(3),
  };
  const requests: Requests = {...place, roles: ['n0/o0', 'n0/o1'], namespaces: ['t0', 't1'], emptied: []};
  const listening = new Listening();
  const several = (count: number, client: () => Promise<void>): Promise<void>[] => Array.from({length: count}, client);
  return {
    clients,
    start: (): Promise<void>[] => [
      ...several(1 + some(2), () => writer(clients)),
      ...several(some(1), () => reader(clients)),
      ...several(some(2), () => lister(clients)),
      ...several(some(2), () => watcher(clients)),
      ...several(some(2), () => requester(requests, listening)),
      ...(random() < 0.5
        ? [...several(1 + some(1), () => creator(requests, listening)), ...requests.namespaces.map((name) => keeper(requests, name))]
        : []),
      ...several(random() < 0.3 ? 1 : 0, () => compactor(clients)),
    ],
    /** @throws BrokenPromise */
    check(): void {
      history.check();
      for (const {namespace, revision} of requests.emptied)
        for (const change of history.archive.get(pods)!)
          if (change.operation === 'create' && change.revision > revision && change.key.startsWith(`${namespace}/`))
            broken('nothing is created in a namespace that was emptied', {namespace, revision, key: change.key, created: change.revision});
    },
    counts: (): Counts => ({
      writes: history.writes.length,
      acknowledged: history.writes.filter((write) => typeof write.outcome === 'object').length,
      reads: history.reads.length,
      lists: history.lists.length,
      watches: history.watches.length,
      changes: [...history.archive.values()].flat().length,
      emptied: requests.emptied.length,
    }),
  };
}

/** What there is at the end; answers the list's revision. */
export async function lastList(store: Store, type: string, history: History): Promise<number> {
  const began = history.now();
  const {items, revision} = await store.scan(type, {prefix: ''});
  history.lists.push({type, prefix: '', revision, exact: false, items: items.map(itemOf), began, ended: history.now()});
  return revision;
}
