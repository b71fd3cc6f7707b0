/**
 * The streams of tunnels, in the table of connections: between whom each is, and the mailbox of those that a function reads. Knows items;
 * what frames mean is tunnel-frames.ts, who reads a mailbox is node-road.ts.
 *
 *     CLUSTER|x|STREAM      a         between whom: data (JSON), ttl
 *                           d|OFFSET  bytes B; e  at N: the end; k  at N: credit; r  reason S: reset; ttl
 *     CLUSTER|k|CONNECTION  x|STREAM  the same stream, where the end of a connection looks for it: data (JSON), ttl
 */
import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import {type StreamFrame, windowBytes} from '../../shared/nodes/tunnel/frames.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';
import {isConditionFailure, numberOf} from './items.ts';

export interface StreamRow {
  stream: string;
  node: string;
  /** The connection that is the node's tunnel. */
  agent: string;
  /** The connection that its other end is; without one a function reads its mailbox. */
  traveller?: string;
  /** So many bytes the server writes itself, before the traveller's. */
  head?: number;
}

type Item = Record<string, AttributeValue>;

/** Nothing of a stream is of use for longer: functions end after 15 minutes, and what is relayed is not kept. */
const streamSeconds = 2 * 3600;
/** So that offsets sort as text: up to 2^48. */
const offsetDigits = 15;

export class Streams {
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

  async open(row: StreamRow): Promise<void> {
    const rest = {data: {S: JSON.stringify(row)}, ttl: this.#ttl()};
    await this.#write(this.#keysOf(row).map((key) => ({PutRequest: {Item: {...key, ...rest}}})));
  }

  /** What its mailbox holds goes by itself. */
  async close(row: StreamRow): Promise<void> {
    await this.#write(this.#keysOf(row).map((Key) => ({DeleteRequest: {Key}})));
  }

  async of(stream: string): Promise<StreamRow | undefined> {
    const {Item: item} = await this.#calls.getItem({TableName: this.#table, Key: this.#key(stream, 'a'), ConsistentRead: true});
    return item && rowOf(item);
  }

  /** Those that end with a connection. */
  async ofConnection(connection: string): Promise<StreamRow[]> {
    const {Items = []} = await this.#calls.query({
      TableName: this.#table,
      KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :x)',
      ExpressionAttributeNames: {'#pk': 'pk', '#sk': 'sk'},
      ExpressionAttributeValues: {':pk': {S: `${this.#cluster}|k|${connection}`}, ':x': {S: 'x|'}},
      ConsistentRead: true,
    });
    return Items.map(rowOf);
  }

  /** Into the mailbox. The same again changes nothing. */
  async deposit(frame: StreamFrame): Promise<void> {
    const {stream} = frame;
    const ttl = this.#ttl();
    if (frame.action === 'data') await this.#put(stream, `d|${padded(frame.at)}`, {bytes: {B: frame.bytes}, ttl});
    else if (frame.action === 'end') await this.#put(stream, 'e', {at: {N: String(frame.at)}, ttl});
    else if (frame.action === 'reset') await this.#put(stream, 'r', {reason: {S: frame.reason}, ttl});
    else if (frame.action === 'credit') await this.#grant(stream, frame.at);
  }

  /** What has come from `offset` on. Not the newest, maybe, nor all where it is more than there was credit for: who asks asks again. */
  async fetch(stream: string, offset: number): Promise<StreamFrame[]> {
    const frames: StreamFrame[] = [];
    let size = 0;
    let from: Item | undefined;
    do {
      const {Items = [], LastEvaluatedKey} = await this.#calls.query({
        TableName: this.#table,
        KeyConditionExpression: '#pk = :pk AND #sk >= :from',
        ExpressionAttributeNames: {'#pk': 'pk', '#sk': 'sk'},
        ExpressionAttributeValues: {':pk': this.#key(stream, '').pk, ':from': {S: `d|${padded(offset)}`}},
        ...(from && {ExclusiveStartKey: from}),
      });
      for (const item of Items) {
        frames.push(frameOf(stream, item));
        size += item['bytes']?.B?.length ?? 0;
      }
      from = LastEvaluatedKey;
    } while (from && size <= windowBytes);
    return frames;
  }

  async #grant(stream: string, at: number): Promise<void> {
    try {
      await this.#calls.updateItem({
        TableName: this.#table,
        Key: this.#key(stream, 'k'),
        UpdateExpression: 'SET #at = :at, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(#at) OR #at < :at',
        ExpressionAttributeNames: {'#at': 'at', '#ttl': 'ttl'},
        ExpressionAttributeValues: {':at': {N: String(at)}, ':ttl': this.#ttl()},
      });
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }

  async #put(stream: string, sk: string, rest: Item): Promise<void> {
    await this.#calls.putItem({TableName: this.#table, Item: {...this.#key(stream, sk), ...rest}});
  }

  #keysOf({stream, agent, traveller}: StreamRow): Item[] {
    const ends = traveller === undefined ? [agent] : [agent, traveller];
    return [this.#key(stream, 'a'), ...ends.map((end) => ({pk: {S: `${this.#cluster}|k|${end}`}, sk: {S: `x|${stream}`}}))];
  }

  #key(stream: string, sk: string): {pk: {S: string}; sk: {S: string}} {
    return {pk: {S: `${this.#cluster}|x|${stream}`}, sk: {S: sk}};
  }

  #ttl(): {N: string} {
    return {N: String(Math.floor(this.#now() / 1000) + streamSeconds)};
  }

  async #write(requests: ({PutRequest: {Item: Item}} | {DeleteRequest: {Key: Item}})[]): Promise<void> {
    for (let waiting = requests; waiting.length > 0; ) {
      const {UnprocessedItems} = await this.#calls.batchWriteItem({RequestItems: {[this.#table]: waiting}});
      waiting = (UnprocessedItems?.[this.#table] ?? []) as typeof requests;
    }
  }
}

const padded = (offset: number): string => String(offset).padStart(offsetDigits, '0');
const rowOf = (item: Item): StreamRow => JSON.parse(item['data']!.S!) as StreamRow;

function frameOf(stream: string, item: Item): StreamFrame {
  const sk = item['sk']!.S!;
  if (sk.startsWith('d|')) return {action: 'data', stream, at: Number(sk.slice(2)), bytes: item['bytes']!.B!};
  if (sk === 'r') return {action: 'reset', stream, reason: item['reason']!.S!};
  return {action: sk === 'e' ? 'end' : 'credit', stream, at: numberOf(item['at'])};
}
