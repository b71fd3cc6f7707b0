/**
 * The table of connections: who is connected, what they are subscribed to, and how far the changes of each type have been sent. Knows
 * items; what they mean for a connection is socket-session.ts, for changes fan-out.ts.
 *
 *     CLUSTER|k|CONNECTION  c              the connection: data (JSON), ttl
 *                           s|ID           a subscription: data (JSON), ttl
 *                           x|STREAM       a stream that ends with it: streams.ts
 *     CLUSTER|t|TYPE        s|CONNECTION|ID  the same subscription, where changes of its type look for it; born S, since N
 *                           t|TOPIC        last N: the last revision sent on the topic
 *     CLUSTER|f|TYPE        f              position N: up to where changes were sent; rings N, and of those done N;
 *                                          holder S, until N (ms): who sends them now
 */
import type {AttributeValue, UpdateItemCommandInput} from '@aws-sdk/client-dynamodb';
import type {UserInfo} from '../../shared/auth/user.ts';
import type {Revision} from '../../shared/storage/contract.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';
import {isConditionFailure, numberOf} from './items.ts';

export interface Connection {
  connectedAt: number;
  /** Whom the connection itself speaks for: by the credential of its handshake. */
  speaker?: {user: UserInfo; expiresAt: number};
  /** Who said hello. */
  user?: UserInfo;
  expiresAt?: number;
  /** What it speaks, where that is not the watch protocol. */
  speaks?: 'tunnel';
  /** Whose tunnel it is, since that was shown. */
  node?: string;
}

export interface Subscription {
  connection: string;
  id: string;
  type: string;
  topic: string;
  /** What the topic stands for: topicText. */
  text: string;
  /** One of a kind: whoever subscribes anew under the same id was not there in between. */
  born: string;
  /** The head of the log before changes could find it: up to here it is sent everything by itself. */
  floor: Revision;
  /** The head after that: what is later has found it. Unknown until it was asked for. */
  since?: Revision;
  user: UserInfo;
  expiresAt: number;
}

export interface Lease {
  position: Revision;
  rings: number;
}

type Item = Record<string, AttributeValue>;

/** A connection lives for two hours at most (AWS); what outlives it is forgotten. */
const connectionSeconds = 3 * 3600;
/** Of a topic and a position that nobody has touched: whoever comes then begins where they are. */
const topicSeconds = 7 * 24 * 3600;
/** BatchWriteItem takes so many, BatchGetItem four times that. */
const writesAtOnce = 25;
const readsAtOnce = 100;
const updatesAtOnce = 25;

export class Connections {
  readonly #calls: DynamoCalls;
  readonly #table: string;
  readonly #cluster: string;
  readonly #now: () => number;

  constructor({calls, table, cluster, now}: {calls: DynamoCalls; table: string; cluster: string; now: () => number}) {
    this.#calls = calls;
    this.#table = table;
    this.#cluster = cluster;
    this.#now = now;
  }

  async put(id: string, connection: Connection): Promise<void> {
    await this.#calls.putItem({TableName: this.#table, Item: this.#connectionItem(id, connection)});
  }

  async read(id: string): Promise<{connection: Connection; subscriptions: Subscription[]} | undefined> {
    const items = await this.#query(`k|${id}`);
    const found = items.find(isConnection);
    if (!found) return undefined;
    return {
      connection: dataOf<Connection>(found),
      subscriptions: items.filter(isSubscription).map((item) => dataOf<Subscription>(item)),
    };
  }

  /** A credential was shown, again maybe: its subscriptions live as long as it does, those that are still there. */
  async greet(id: string, connection: Connection, subscriptions: readonly Subscription[]): Promise<void> {
    await this.put(id, connection);
    for (let at = 0; at < subscriptions.length; at += updatesAtOnce)
      await Promise.all(
        subscriptions.slice(at, at + updatesAtOnce).map((subscription) => this.#change(subscription, 'data', dataAttribute(subscription))),
      );
  }

  async subscribe(subscription: Subscription): Promise<void> {
    // Where changes look for it last: from then on it may be sent some, and a client that asks must be told of it.
    for (const item of this.#subscriptionItems(subscription)) await this.#calls.putItem({TableName: this.#table, Item: item});
  }

  /** `since`: the head, asked for after `subscribe`. False when the subscription is no more, or another one has its name. */
  settle(subscription: Subscription, since: Revision): Promise<boolean> {
    return this.#change(subscription, 'since', {N: String(since)});
  }

  async unsubscribe(subscriptions: readonly Subscription[]): Promise<void> {
    await this.#write(subscriptions.flatMap((subscription) => this.#subscriptionItems(subscription)).map(remove));
  }

  /** Also what has come about while it was being removed before. Answers what it was. */
  async remove(id: string): Promise<Connection | undefined> {
    const items = await this.#query(`k|${id}`);
    await this.unsubscribe(items.filter(isSubscription).map((item) => dataOf<Subscription>(item)));
    const own = items.filter(isConnection);
    await this.#write(own.map(remove));
    return own[0] && dataOf<Connection>(own[0]);
  }

  /** Who wants the changes of a type, and where each topic stands. */
  async of(type: string): Promise<{subscriptions: Subscription[]; last: Map<string, Revision>}> {
    const subscriptions: Subscription[] = [];
    const last = new Map<string, Revision>();
    for (const item of await this.#query(`t|${type}`)) {
      const sk = item['sk']!.S!;
      if (sk.startsWith('t|')) last.set(sk.slice(2), numberOf(item['last']));
      else subscriptions.push(subscriptionOf(item));
    }
    return {subscriptions, last};
  }

  /** Never back: one who was taken for dead may say it late, and what was sent in between would be forgotten. */
  async sent(type: string, topic: string, last: Revision): Promise<void> {
    try {
      await this.#calls.updateItem({
        TableName: this.#table,
        Key: this.#topicKey(type, topic),
        UpdateExpression: 'SET #last = :last, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(#last) OR #last < :last',
        ExpressionAttributeNames: {'#last': 'last', '#ttl': 'ttl'},
        ExpressionAttributeValues: {':last': {N: String(last)}, ':ttl': this.#ttl(topicSeconds)},
      });
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }

  /**
   * For each subscription: a revision and one up to where nothing later than the first was to be sent. The order of reading matters: a
   * position is told after what was sent up to there, and counts for those only who are subscribed still when it has been read.
   */
  async progress(subscriptions: readonly Subscription[]): Promise<Map<string, [last: Revision, through: Revision]>> {
    const positions = await this.#get([...new Set(subscriptions.map(({type}) => type))].map((type) => this.#leaseKey(type)));
    const now = await this.#get([
      ...new Map(subscriptions.map(({type, topic}) => [topic, this.#topicKey(type, topic)])).values(),
      ...subscriptions.map((subscription) => this.#foundKey(subscription)),
    ]);
    const progress = new Map<string, [Revision, Revision]>();
    for (const {id, type, topic, ...rest} of subscriptions) {
      const item = now.get(nameOf(this.#foundKey({type, id, ...rest})));
      const found = item && subscriptionOf(item);
      if (found?.born !== rest.born) continue;
      const sent = numberOf(now.get(nameOf(this.#topicKey(type, topic)))?.['last']);
      const position = numberOf(positions.get(nameOf(this.#leaseKey(type)))?.['position']);
      // Without knowing since when it has been found: whoever is behind this shall ask, and nobody may pass over anything.
      const last = found.since === undefined ? Math.max(sent, position, found.floor) : Math.max(sent, found.since);
      progress.set(id, [last, Math.max(last, position)]);
    }
    return progress;
  }

  /** The right to send the changes of a type; where somebody has it, the number of our ring, which they will hear. */
  async acquire(type: string, holder: string, forMs: number): Promise<Lease | {ring: number}> {
    for (;;) {
      const now = this.#now();
      const taken = await this.#updateLease(type, {
        UpdateExpression: 'SET #holder = :holder, #until = :until, #ttl = :ttl ADD #rings :one',
        ConditionExpression: 'attribute_not_exists(#holder) OR #until < :now',
        ExpressionAttributeNames: {'#holder': 'holder', '#until': 'until', '#ttl': 'ttl', '#rings': 'rings'},
        ExpressionAttributeValues: {
          ':holder': {S: holder},
          ':until': {N: String(now + forMs)},
          ':now': {N: String(now)},
          ':ttl': this.#ttl(topicSeconds),
          ':one': {N: '1'},
        },
      });
      if (taken) return leaseOf(taken);
      const rung = await this.#updateLease(type, {
        UpdateExpression: 'ADD #rings :one',
        ExpressionAttributeNames: {'#rings': 'rings'},
        ExpressionAttributeValues: {':one': {N: '1'}},
      });
      // Let go of between the two: nobody would hear the ring.
      if (rung?.['holder'] && numberOf(rung['until']) >= now) return {ring: numberOf(rung['rings'])};
    }
  }

  /** Whether what rang has been sent by now. `left`: who had the right is no more. */
  async heard(type: string, ring: number): Promise<boolean | 'left'> {
    const {Item: item} = await this.#calls.getItem({
      TableName: this.#table,
      Key: this.#leaseKey(type),
      ConsistentRead: true,
    });
    if (numberOf(item?.['done']) >= ring) return true;
    return !item?.['holder'] || numberOf(item['until']) < this.#now() ? 'left' : false;
  }

  /** `done`: the rings whose changes have been sent. Undefined when the right has passed to somebody else. */
  async advance(
    type: string,
    holder: string,
    {position, done}: {position: Revision; done?: number},
    forMs: number,
  ): Promise<Lease | undefined> {
    const item = await this.#updateLease(type, {
      UpdateExpression: `SET #position = :position, #until = :until${done === undefined ? '' : ', #done = :done'}`,
      ConditionExpression: '#holder = :holder',
      ExpressionAttributeNames: {
        '#holder': 'holder',
        '#until': 'until',
        '#position': 'position',
        ...(done !== undefined && {'#done': 'done'}),
      },
      ExpressionAttributeValues: {
        ':holder': {S: holder},
        ':until': {N: String(this.#now() + forMs)},
        ':position': {N: String(position)},
        ...(done !== undefined && {':done': {N: String(done)}}),
      },
    });
    return item && leaseOf(item);
  }

  /** False when it has been rung since `rings`, or is somebody else's: then it is not let go of. */
  async release(type: string, holder: string, {position, rings}: Lease): Promise<boolean> {
    const item = await this.#updateLease(type, {
      UpdateExpression: 'SET #position = :position, #done = :rings REMOVE #holder, #until',
      ConditionExpression: '#holder = :holder AND #rings = :rings',
      ExpressionAttributeNames: {'#holder': 'holder', '#until': 'until', '#position': 'position', '#rings': 'rings', '#done': 'done'},
      ExpressionAttributeValues: {':holder': {S: holder}, ':rings': {N: String(rings)}, ':position': {N: String(position)}},
    });
    return item !== undefined;
  }

  async #change(subscription: Subscription, attribute: 'data' | 'since', value: AttributeValue): Promise<boolean> {
    try {
      await this.#calls.updateItem({
        TableName: this.#table,
        Key: this.#foundKey(subscription),
        UpdateExpression: 'SET #attribute = :value',
        ConditionExpression: '#born = :born',
        ExpressionAttributeNames: {'#attribute': attribute, '#born': 'born'},
        ExpressionAttributeValues: {':value': value, ':born': {S: subscription.born}},
      });
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  #key(kind: string, name: string): AttributeValue {
    return {S: `${this.#cluster}|${kind}|${name}`};
  }

  #topicKey(type: string, topic: string): Item {
    return {pk: this.#key('t', type), sk: {S: `t|${topic}`}};
  }

  #leaseKey(type: string): Item {
    return {pk: this.#key('f', type), sk: {S: 'f'}};
  }

  /** Where changes find it. */
  #foundKey({type, connection, id}: Pick<Subscription, 'type' | 'connection' | 'id'>): Item {
    return {pk: this.#key('t', type), sk: {S: `s|${connection}|${id}`}};
  }

  #ttl(seconds: number): AttributeValue {
    return {N: String(Math.floor(this.#now() / 1000) + seconds)};
  }

  #connectionItem(id: string, connection: Connection): Item {
    return {pk: this.#key('k', id), sk: {S: 'c'}, data: {S: JSON.stringify(connection)}, ttl: this.#ttl(connectionSeconds)};
  }

  #subscriptionItems(subscription: Subscription): Item[] {
    const {connection, id, born} = subscription;
    const rest = {data: dataAttribute(subscription), born: {S: born}, ttl: this.#ttl(connectionSeconds)};
    return [
      {pk: this.#key('k', connection), sk: {S: `s|${id}`}, ...rest},
      {...this.#foundKey(subscription), ...rest},
    ];
  }

  async #query(partition: string): Promise<Item[]> {
    const items: Item[] = [];
    let from: Item | undefined;
    do {
      const page = await this.#calls.query({
        TableName: this.#table,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: {'#pk': 'pk'},
        ExpressionAttributeValues: {':pk': {S: `${this.#cluster}|${partition}`}},
        ConsistentRead: true,
        ...(from && {ExclusiveStartKey: from}),
      });
      items.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from);
    // Expired items stay for up to days.
    const now = Math.floor(this.#now() / 1000);
    return items.filter((item) => numberOf(item['ttl']) > now);
  }

  async #get(keys: readonly Item[]): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    let wanted = [...keys];
    while (wanted.length > 0) {
      const {Responses, UnprocessedKeys} = await this.#calls.batchGetItem({
        RequestItems: {[this.#table]: {Keys: wanted.slice(0, readsAtOnce), ConsistentRead: true}},
      });
      for (const item of Responses?.[this.#table] ?? []) found.set(nameOf(item), item);
      wanted = [...(UnprocessedKeys?.[this.#table]?.Keys ?? []), ...wanted.slice(readsAtOnce)];
    }
    return found;
  }

  async #write(requests: Request[]): Promise<void> {
    let waiting = requests;
    while (waiting.length > 0) {
      const {UnprocessedItems} = await this.#calls.batchWriteItem({RequestItems: {[this.#table]: waiting.slice(0, writesAtOnce)}});
      waiting = [...((UnprocessedItems?.[this.#table] ?? []) as Request[]), ...waiting.slice(writesAtOnce)];
    }
  }

  /** The item as it is now; undefined when the condition does not hold. */
  async #updateLease(type: string, update: Partial<UpdateItemCommandInput>): Promise<Item | undefined> {
    try {
      const {Attributes = {}} = await this.#calls.updateItem({
        TableName: this.#table,
        Key: this.#leaseKey(type),
        ReturnValues: 'ALL_NEW',
        ...update,
      });
      return Attributes;
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  }
}

type Request = {DeleteRequest: {Key: Item}};
const remove = ({pk, sk}: Item): Request => ({DeleteRequest: {Key: {pk: pk!, sk: sk!}}});

const dataOf = <T>(item: Item): T => JSON.parse(item['data']!.S!) as T;
const isConnection = ({sk}: Item): boolean => sk!.S === 'c';
const isSubscription = ({sk}: Item): boolean => sk!.S!.startsWith('s|');
const nameOf = ({pk, sk}: Item): string => `${pk!.S} ${sk!.S}`;
/** What is known since when lies beside it: two who write at once must not undo each other. */
const dataAttribute = ({since: _, ...subscription}: Subscription): AttributeValue => ({S: JSON.stringify(subscription)});
const subscriptionOf = (item: Item): Subscription => ({
  ...dataOf<Subscription>(item),
  ...(item['since'] && {since: numberOf(item['since'])}),
});
const leaseOf = (item: Item): Lease => ({position: numberOf(item['position']), rings: numberOf(item['rings'])});
