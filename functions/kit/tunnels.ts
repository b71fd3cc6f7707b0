/**
 * Which connection is whose node's tunnel, and when it was last heard, in the table of connections. Tells by it which nodes live: an item is
 * believed until it has been silent for long, since nobody promises to tell of a connection's end (AWS). What is said over one is tunnel-session.ts.
 *
 *     CLUSTER|n|  NODE   connection S; until N (ms): end of its credential; heard N (ms); ended N (ms), when its end was told; ttl
 */
import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import {hearingMs, type NodeLiveness} from '../../shared/nodes/liveness.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';
import {isConditionFailure, numberOf} from './items.ts';

export interface Tunnel {
  connection: string;
  heardAt: number;
  endedAt?: number;
}

type Item = Record<string, AttributeValue>;

/** Of a node that nobody has heard of: its Lease as it was written is old enough by then. */
const forgottenSeconds = 7 * 24 * 3600;

export class Tunnels implements NodeLiveness {
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

  /** A hello was accepted: from now on this is the node's tunnel, whichever was it before. */
  async open(node: string, connection: string, expiresAt: number): Promise<void> {
    const item = {...this.#key(node), connection: {S: connection}, until: {N: String(expiresAt)}, heard: this.#time(), ttl: this.#ttl()};
    await this.#calls.putItem({TableName: this.#table, Item: item});
  }

  /** Takes one write and nothing else. False when this is not the node's tunnel, or not any more. */
  heard(node: string, connection: string): Promise<boolean> {
    return this.#update(node, {
      UpdateExpression: 'SET #heard = :now, #ttl = :ttl',
      ConditionExpression: '#connection = :connection AND #until > :now AND attribute_not_exists(#ended)',
      ExpressionAttributeNames: {'#heard': 'heard', '#ttl': 'ttl', '#connection': 'connection', '#until': 'until', '#ended': 'ended'},
      ExpressionAttributeValues: {':now': this.#time(), ':ttl': this.#ttl(), ':connection': {S: connection}},
    });
  }

  /** There is nobody on it any more. A newer one of the node is not meant. */
  async ended(node: string, connection: string): Promise<void> {
    await this.#update(node, {
      UpdateExpression: 'SET #ended = :now',
      ConditionExpression: '#connection = :connection AND attribute_not_exists(#ended)',
      ExpressionAttributeNames: {'#connection': 'connection', '#ended': 'ended'},
      ExpressionAttributeValues: {':now': this.#time(), ':connection': {S: connection}},
    });
  }

  /** That of a node, dead or alive. */
  async of(node: string): Promise<Tunnel | undefined> {
    const {Item: item} = await this.#calls.getItem({TableName: this.#table, Key: this.#key(node), ConsistentRead: true});
    return item && tunnelOf(item);
  }

  isLive({heardAt, endedAt}: Tunnel): boolean {
    return endedAt === undefined && this.#now() < heardAt + hearingMs;
  }

  async lastSeen(name?: string): Promise<ReadonlyMap<string, number>> {
    if (name !== undefined) {
      const tunnel = await this.of(name);
      return new Map(tunnel ? [[name, this.#seen(tunnel)]] : []);
    }
    const seen = new Map<string, number>();
    let from: Item | undefined;
    do {
      const {Items = [], LastEvaluatedKey} = await this.#calls.query({
        TableName: this.#table,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: {'#pk': 'pk'},
        ExpressionAttributeValues: {':pk': this.#key('').pk},
        ...(from && {ExclusiveStartKey: from}),
      });
      for (const item of Items) seen.set(item['sk']!.S!, this.#seen(tunnelOf(item)));
      from = LastEvaluatedKey;
    } while (from);
    return seen;
  }

  /** Never later than what was told while it lived: the platform may tell of the end minutes after everybody knew. */
  #seen(tunnel: Tunnel): number {
    const {heardAt, endedAt} = tunnel;
    if (this.isLive(tunnel)) return this.#now();
    return endedAt !== undefined && endedAt < heardAt + hearingMs ? endedAt : heardAt;
  }

  async #update(node: string, update: Omit<Parameters<DynamoCalls['updateItem']>[0], 'TableName' | 'Key'>): Promise<boolean> {
    try {
      await this.#calls.updateItem({TableName: this.#table, Key: this.#key(node), ...update});
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  #key(node: string): {pk: {S: string}; sk: {S: string}} {
    return {pk: {S: `${this.#cluster}|n|`}, sk: {S: node}};
  }

  #time(): {N: string} {
    return {N: String(this.#now())};
  }

  #ttl(): {N: string} {
    return {N: String(Math.floor(this.#now() / 1000) + forgottenSeconds)};
  }
}

const tunnelOf = (item: Item): Tunnel => ({
  connection: item['connection']!.S!,
  heardAt: numberOf(item['heard']),
  ...(item['ended'] && {endedAt: numberOf(item['ended'])}),
});
