/** For the tests of this room: a server over a store in memory and clients of it, with a network between that does what a seed says. */
import {anonymous} from '../../auth/user.ts';
import {ManualClock} from '../../clock.ts';
import {badRequest, failure} from '../../errors.ts';
import type {Change, Store} from '../../storage/contract.ts';
import {openMemory} from '../../storage/embedded/open.ts';
import {Hubs} from '../hub.ts';
import {eventTypeOf} from '../watcher.ts';
import {Topics} from './broadcast.ts';
import {WatchClient} from './client.ts';
import type {Feed} from './feed.ts';
import type {Transport, TransportEvents} from './link.ts';
import type {Selection} from './messages.ts';
import {type Rooms, Session} from './session.ts';
import {topicText} from './topic.ts';

export const settled = async (turns = 3): Promise<void> => {
  for (let at = 0; at < turns; at++) await new Promise((resolve) => setImmediate(resolve));
};

export const pods = (more: Partial<Selection> & {namespace?: string} = {}): Selection => ({
  collection: {group: '', version: 'v1', resource: 'pods', namespace: more.namespace ?? ''},
  labelSelector: more.labelSelector ?? '',
  fieldSelector: '',
  accept: 'application/json',
});

/** One message under way. */
interface Flight {
  carry(): void;
}

/** Keeps messages until somebody lets them through, loses them or doubles them. */
export class Network {
  readonly flights: Flight[] = [];
  readonly hangUps = new Set<(code: number) => void>();
  down = false;

  post(carry: () => void): void {
    this.flights.push({carry});
  }

  deliver(at = 0): void {
    this.flights.splice(at, 1)[0]?.carry();
  }

  async deliverAll(): Promise<void> {
    await settled();
    while (this.flights.length > 0) {
      this.deliver();
      if (this.flights.length === 0) await settled();
    }
  }

  cut(code = 1006): void {
    this.flights.length = 0;
    for (const hangUp of [...this.hangUps]) hangUp(code);
  }
}

export interface World {
  store: Store;
  clock: ManualClock;
  network: Network;
  hubs: Hubs;
  topics: Topics;
  rooms: Rooms & {refused: Set<string>; tokens: Set<string>};
  client(random?: () => number, token?: () => Promise<string | undefined>): WatchClient;
  write(key: string, labels: Record<string, string>, text?: string): Promise<number>;
  remove(key: string): Promise<number>;
}

export async function world(): Promise<World> {
  const clock = new ManualClock();
  const store = await openMemory({clock});
  const hubs = new Hubs(store);
  const topics = new Topics();
  const network = new Network();
  const rooms: World['rooms'] = {
    refused: new Set(),
    tokens: new Set(),
    async authenticate(token) {
      if (token !== undefined && !rooms.tokens.has(token)) throw failure(401, 'Unauthorized', 'Unauthorized');
      return token === undefined ? anonymous : {name: token, groups: []};
    },
    async open(_user, selection) {
      if (rooms.refused.has(selection.collection.namespace)) throw failure(403, 'Forbidden', 'pods is forbidden');
      return feedOf(hubs, selection);
    },
  };
  const dial = (events: TransportEvents): Transport => {
    let open = true;
    const hangUp = (code: number): void => {
      if (!open) return;
      open = false;
      network.hangUps.delete(hangUp);
      session.close();
      events.closed(code, 'cut');
    };
    const session = new Session({
      rooms,
      topics,
      clock,
      carrier: {
        send: (bytes) => network.post(() => open && events.message(Buffer.from(bytes).toString())),
        room: () => undefined,
        overfull: false,
        close: (code) => network.post(() => hangUp(code)),
      },
    });
    network.hangUps.add(hangUp);
    network.post(() => (network.down ? hangUp(1006) : open && events.open()));
    return {send: (text) => network.post(() => open && session.receive(text)), close: (code) => hangUp(code)};
  };
  const revisions = new Map<string, number>();
  return {
    store,
    clock,
    network,
    hubs,
    topics,
    rooms,
    client: (random = () => 0.5, token) => new WatchClient({dial, clock, random, ...(token && {token})}),
    async write(key, labels, text = '') {
      const encode = (revision: number) => Buffer.from(`{"metadata":{"resourceVersion":"${revision}"},"text":${JSON.stringify(text)}}\n`);
      const expected = revisions.get(key) ?? 'absent';
      const {revision} = await store.append({type: 'pods', key, expected, operation: 'put', encode, index: {labels}});
      revisions.set(key, revision);
      return revision;
    },
    async remove(key) {
      const encode = (revision: number) => Buffer.from(`{"metadata":{"resourceVersion":"${revision}"}}\n`);
      const {revision} = await store.append({type: 'pods', key, expected: revisions.get(key)!, operation: 'delete', encode, index: {}});
      revisions.delete(key);
      return revision;
    },
  };
}

async function feedOf(hubs: Hubs, selection: Selection): Promise<Feed> {
  const {collection, labelSelector} = selection;
  if (collection.resource !== 'pods') throw badRequest('there are pods here, and nothing else');
  const prefix = collection.namespace ? `${collection.namespace}/` : '';
  const [label, value] = labelSelector.split('=');
  const scope = {prefix, ...(label && {matches: ({index}: Pick<Change, 'index'>) => index.labels?.[label] === value})};
  return {
    // Not the digest of it: that takes its time in another thread, and a seed could not be replayed.
    topic: topicText(selection),
    hub: hubs.of('pods'),
    line({change}) {
      const type = eventTypeOf(change, scope);
      return (
        type && Buffer.from(`{"type":"${type}","revision":${change.revision},"object":${Buffer.from(change.image).toString().trim()}}\n`)
      );
    },
  };
}
