/**
 * The index of owners (shared/controllers/garbage/owner-index.ts) as items of the table of connections, where lies what can be made again.
 *
 *     CLUSTER|d|SHARD  HASH|TYPE|KEY   owner S, uid S (of the dependent), rev N; open BOOL while its owner was
 *                                    not looked for; of one that went: gone BOOL, ttl N
 *
 * HASH is that of the owner's uid, which is whatever a client says, and tells the SHARD. Every entry tells the revision that
 * it is from, and what went leaves one for as long as the stream can still bring what was before it.
 */
import {createHash} from 'node:crypto';
import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import type {OwnerIndex, Reference} from '../../shared/controllers/garbage/owner-index.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';

type Item = Record<string, AttributeValue>;

/** Records are in the stream for a day (AWS), and are given up after an hour. */
const goneSeconds = 2 * 24 * 3600;
const readsAtOnce = 100;
/** Each takes 1,000 writes a second (AWS), and maintenance reads each. */
const shards = 4;

export class DynamoOwnerIndex implements OwnerIndex {
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

  async unknown(references: readonly Reference[]): Promise<Reference[]> {
    const keys = new Map(references.map((reference) => [nameOf(this.#key(reference)), this.#key(reference)]));
    const found = new Map<string, Item>();
    let wanted: Item[] = [...keys.values()];
    while (wanted.length > 0) {
      const {Responses, UnprocessedKeys} = await this.#calls.batchGetItem({
        RequestItems: {[this.#table]: {Keys: wanted.slice(0, readsAtOnce), ConsistentRead: true}},
      });
      for (const item of Responses?.[this.#table] ?? []) found.set(nameOf(item), item);
      wanted = [...(UnprocessedKeys?.[this.#table]?.Keys ?? []), ...wanted.slice(readsAtOnce)];
    }
    return references.filter((reference) => {
      const item = found.get(nameOf(this.#key(reference)));
      // An object that was made again under the same name is another one: the entry of the former will be forgotten.
      return !item || isGone(item) || item['open']?.BOOL === true || item['uid']?.S !== reference.uid;
    });
  }

  note(reference: Reference, settled: boolean): Promise<void> {
    return this.#put(reference, settled ? {} : {open: {BOOL: true}}, isNotLater);
  }

  forget(reference: Reference): Promise<void> {
    return this.#put(reference, this.#gone(), isNotLater);
  }

  retract(reference: Reference): Promise<void> {
    return this.#put(reference, this.#gone(), isUnchanged);
  }

  async dependentsOf(owner: string): Promise<Reference[]> {
    const hash = hashOf(owner);
    const found = await this.#query(shardOf(hash), `${hash}|`);
    return found.filter((reference) => reference.owner === owner);
  }

  async all(): Promise<Reference[]> {
    return (await Promise.all(Array.from({length: shards}, (_, shard) => this.#query(shard)))).flat();
  }

  #gone(): Item {
    return {gone: {BOOL: true}, ttl: {N: String(Math.ceil(this.#now() / 1000) + goneSeconds)}};
  }

  async #put(reference: Reference, state: Item, condition: string): Promise<void> {
    const {owner, uid, revision} = reference;
    const rev = {N: String(revision)};
    try {
      await this.#calls.putItem({
        TableName: this.#table,
        Item: {...this.#key(reference), owner: {S: owner}, uid: {S: uid}, rev, ...state},
        ConditionExpression: condition,
        ExpressionAttributeValues: {':rev': rev, ...(condition === isUnchanged && {':uid': {S: uid}})},
      });
    } catch (error) {
      if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
    }
  }

  async #query(shard: number, prefix?: string): Promise<Reference[]> {
    const references: Reference[] = [];
    let from: Item | undefined;
    do {
      const page = await this.#calls.query({
        TableName: this.#table,
        KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {':pk': this.#partition(shard), ...(prefix !== undefined && {':prefix': {S: prefix}})},
        ConsistentRead: true,
        ...(from && {ExclusiveStartKey: from}),
      });
      for (const item of page.Items ?? []) if (!isGone(item)) references.push(referenceOf(item));
      from = page.LastEvaluatedKey;
    } while (from);
    return references;
  }

  #partition(shard: number): {S: string} {
    return {S: `${this.#cluster}|d|${shard}`};
  }

  #key({owner, type, key}: Reference): {pk: {S: string}; sk: {S: string}} {
    const hash = hashOf(owner);
    return {pk: this.#partition(shardOf(hash)), sk: {S: `${hash}|${type}|${key}`}};
  }
}

const isNotLater = 'attribute_not_exists(rev) OR rev <= :rev';
const isUnchanged = 'rev = :rev AND uid = :uid AND attribute_not_exists(gone)';

/** Short: with type and key it is a sort key, of at most 1,024 bytes (AWS), 1,000 of which those two may take. */
const hashOf = (uid: string): string => createHash('sha256').update(uid).digest('base64url').slice(0, 22);
const shardOf = (hash: string): number => hash.charCodeAt(0) % shards;
const nameOf = ({pk, sk}: Item): string => `${pk!.S} ${sk!.S}`;
const isGone = (item: Item): boolean => item['gone']?.BOOL === true;

function referenceOf(item: Item): Reference {
  const [, type = '', key = ''] = /^[^|]*\|([^|]*)\|(.*)$/s.exec(item['sk']!.S!) ?? [];
  return {owner: item['owner']!.S!, type, key, uid: item['uid']!.S!, revision: Number(item['rev']!.N)};
}
