/** What the double and DynamoDB Local must both say: the rules of calls, without any trouble. */

import {describe, expect, test} from 'vitest';
import type {DynamoCalls} from '../../calls.ts';
import type {Tables} from '../../tables.ts';
import type {DynamoError, Item} from '../errors.ts';

export interface Probed {
  client: DynamoCalls;
  tables: Tables;
}

let partitions = 0;

export function probes(name: string, probed: () => Probed): void {
  const ask = () => {
    const {client, tables} = probed();
    const pk = `p${++partitions}`;
    const key = (sk: string): Item => ({pk: {S: pk}, sk: {S: sk}});
    const TableName = tables.objects;
    return {
      client,
      tables,
      TableName,
      pk,
      key,
      put: (sk: string, more: Item = {}, request: object = {}) => client.putItem({TableName, Item: {...key(sk), ...more}, ...request}),
      get: async (sk: string) => (await client.getItem({TableName, Key: key(sk), ConsistentRead: true})).Item,
      update: (sk: string, UpdateExpression: string, values: Item | undefined, more: object = {}) =>
        client.updateItem({
          TableName,
          Key: key(sk),
          UpdateExpression,
          ...(values && {ExpressionAttributeValues: values}),
          ReturnValues: 'ALL_NEW',
          ...more,
        }),
      query: (KeyConditionExpression: string, values: Item, more: object = {}) =>
        client.query({
          TableName,
          KeyConditionExpression,
          ExpressionAttributeValues: {':pk': {S: pk}, ...values},
          ConsistentRead: true,
          ...more,
        }),
    };
  };
  const fails = async (call: Promise<unknown>): Promise<DynamoError> => {
    try {
      await call;
    } catch (error) {
      return error as DynamoError;
    }
    return expect.fail('it should have failed');
  };
  const n = (value: number): Item[string] => ({N: String(value)});

  describe(`${name} does as documented`, () => {
    test('an item is put, read, replaced and deleted', async () => {
      const {client, TableName, key, put, get} = ask();
      expect(await get('a')).toBeUndefined();
      await put('a', {body: {B: new Uint8Array([1, 2, 3])}, list: {L: [{S: 'x'}, {BOOL: true}]}, set: {SS: ['x', 'y']}});
      const item = await get('a');
      expect(item).toEqual({...key('a'), body: {B: expect.anything()}, list: {L: [{S: 'x'}, {BOOL: true}]}, set: {SS: expect.anything()}});
      expect([...item!['body']!.B!]).toEqual([1, 2, 3]);
      const {Attributes: old} = await put('a', {x: n(1)}, {ReturnValues: 'ALL_OLD'});
      expect(Object.keys(old!).sort()).toEqual(['body', 'list', 'pk', 'set', 'sk']);
      expect(await get('a')).toEqual({...key('a'), x: n(1)});
      await client.deleteItem({TableName, Key: key('a')});
      await client.deleteItem({TableName, Key: key('a')});
      expect(await get('a')).toBeUndefined();
    });

    test('conditions', async () => {
      const {put} = ask();
      const when = (ConditionExpression: string, ExpressionAttributeValues?: Item, ExpressionAttributeNames?: Record<string, string>) => ({
        ConditionExpression,
        ...(ExpressionAttributeValues && {ExpressionAttributeValues}),
        ...(ExpressionAttributeNames && {ExpressionAttributeNames}),
      });
      const item = {rev: n(5), text: {S: 'hello'}, tags: {SS: ['x']}, deep: {M: {entries: {L: [n(1), n(2)]}}}};
      const holds: [string, Item?, Record<string, string>?][] = [
        ['rev = :five', {':five': n(5)}],
        ['rev = :five', {':five': {N: '5.0'}}],
        ['NOT rev = :six AND rev <> :six', {':six': n(6)}],
        ['rev BETWEEN :low AND :high', {':low': n(5), ':high': n(9)}],
        ['rev IN (:a, :b)', {':a': n(1), ':b': n(5)}],
        ['begins_with(#text, :he) AND contains(#text, :ell)', {':he': {S: 'he'}, ':ell': {S: 'ell'}}, {'#text': 'text'}],
        ['contains(tags, :x) AND size(tags) = :one', {':x': {S: 'x'}, ':one': n(1)}],
        ['attribute_type(deep, :map) AND deep.entries[1] = :two', {':map': {S: 'M'}, ':two': n(2)}],
        ['attribute_not_exists(gone) OR gone < :one', {':one': n(1)}],
        ['(attribute_exists(gone) AND rev = :x) OR rev >= :x', {':x': n(5)}],
        ['absent <> :x', {':x': n(5)}],
      ];
      await put('a', item);
      for (const [text, values, names] of holds) await put('a', item, when(text, values, names));
      const fail: [string, Item?][] = [
        ['attribute_not_exists(pk)'],
        ['rev = :text', {':text': {S: '5'}}],
        ['rev < :text', {':text': {S: '9'}}],
        ['absent = :x', {':x': n(5)}],
        ['absent < :x', {':x': n(5)}],
        ['NOT attribute_exists(pk) OR rev > :x', {':x': n(5)}],
      ];
      for (const [text, values] of fail) {
        const error = await fails(put('a', item, when(text, values)));
        expect([text, error.name, error.$metadata.httpStatusCode]).toEqual([text, 'ConditionalCheckFailedException', 400]);
      }
    });

    test('updates count, keep what is there, add to sets, and return what came of it', async () => {
      const {update, key} = ask();
      const {Attributes: first} = await update('s', 'ADD #last :one', {':one': n(1)}, {ExpressionAttributeNames: {'#last': 'last'}});
      expect(first).toEqual({...key('s'), last: n(1)});
      await update('s', 'ADD tags :x', {':x': {SS: ['x']}});
      const {Attributes: next} = await update(
        's',
        'SET a = if_not_exists(a, :a), b = #last + :a ADD #last :a, tags :more REMOVE c',
        {':a': n(7), ':more': {SS: ['x', 'y']}},
        {ExpressionAttributeNames: {'#last': 'last'}},
      );
      expect({...next, tags: {SS: [...next!['tags']!.SS!].sort()}}).toEqual({
        ...key('s'),
        last: n(8),
        a: n(7),
        b: n(8),
        tags: {SS: ['x', 'y']},
      });
      const {Attributes: less} = await update('s', 'DELETE tags :x SET a = a - :one', {':x': {SS: ['x', 'y']}, ':one': n(1)});
      expect(less).toEqual({...key('s'), last: n(8), a: n(6), b: n(8)});
      const error = await fails(update('s', 'SET a = :x', {':x': n(0)}, {ConditionExpression: 'a < :x'}));
      expect(error.name).toBe('ConditionalCheckFailedException');
    });

    test('a query is in order, within its range, and in pages', async () => {
      const {put, query, key} = ask();
      for (const sk of ['b/2', 'a', 'b/10', 'b/1', 'c', 'B', 'é', '\u{10000}', '\uffee']) await put(sk, {v: n(sk.length)});
      const keysOf = (items: Item[] | undefined) => items!.map((item) => item['sk']!.S);
      expect(keysOf((await query('pk = :pk', {})).Items)).toEqual(['B', 'a', 'b/1', 'b/10', 'b/2', 'c', 'é', '\uffee', '\u{10000}']);
      expect(keysOf((await query('pk = :pk AND begins_with(sk, :b)', {':b': {S: 'b/'}})).Items)).toEqual(['b/1', 'b/10', 'b/2']);
      expect(keysOf((await query('pk = :pk AND sk BETWEEN :a AND :b', {':a': {S: 'a'}, ':b': {S: 'b/10'}})).Items)).toEqual([
        'a',
        'b/1',
        'b/10',
      ]);
      expect(keysOf((await query('pk = :pk AND sk > :c', {':c': {S: 'c'}}, {ScanIndexForward: false})).Items)).toEqual([
        '\u{10000}',
        '\uffee',
        'é',
      ]);
      const page = await query('pk = :pk', {}, {Limit: 2});
      expect([keysOf(page.Items), page.LastEvaluatedKey]).toEqual([['B', 'a'], key('a')]);
      const rest = await query('pk = :pk', {}, {ExclusiveStartKey: page.LastEvaluatedKey});
      expect([rest.Count, rest.LastEvaluatedKey]).toEqual([7, undefined]);
      const counted = await query('pk = :pk', {':three': n(3)}, {Select: 'COUNT', FilterExpression: 'v = :three'});
      expect([counted.Items, counted.Count, counted.ScannedCount]).toEqual([undefined, 2, 9]);
      const some = await query('pk = :pk', {}, {ProjectionExpression: 'sk', Limit: 1});
      expect(some.Items).toEqual([{sk: {S: 'B'}}]);
    });

    test('a page holds a megabyte, and revisions are in the order of their numbers', async () => {
      const {client, tables} = ask();
      const pk = {S: `big${++partitions}`};
      const body = {B: new Uint8Array(300 * 1024)};
      for (const sk of [10, 9, 100, 1, 2]) await client.putItem({TableName: tables.log, Item: {pk, sk: n(sk), body}});
      const request = {
        TableName: tables.log,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: {':pk': pk},
        ConsistentRead: true,
      };
      const seen: string[] = [];
      let pages = 0;
      let start: Item | undefined;
      do {
        const page = await client.query({...request, ...(start && {ExclusiveStartKey: start})});
        expect(page.Items!.length).toBeLessThanOrEqual(4);
        seen.push(...page.Items!.map(({sk}) => sk!.N!));
        start = page.LastEvaluatedKey;
        pages++;
      } while (start);
      expect([seen, pages]).toEqual([['1', '2', '9', '10', '100'], 2]);
    });

    test('batches read and write what is there', async () => {
      const {client, TableName, key, put} = ask();
      await put('a', {v: n(1)});
      await put('b', {v: n(2)});
      const {Responses, UnprocessedKeys} = await client.batchGetItem({
        RequestItems: {
          [TableName]: {
            Keys: [key('a'), key('b'), key('c')],
            ConsistentRead: true,
            ProjectionExpression: '#sk, v',
            ExpressionAttributeNames: {'#sk': 'sk'},
          },
        },
      });
      expect(Responses![TableName]!.sort((x, y) => (x['sk']!.S! < y['sk']!.S! ? -1 : 1))).toEqual([
        {sk: {S: 'a'}, v: n(1)},
        {sk: {S: 'b'}, v: n(2)},
      ]);
      expect(UnprocessedKeys ?? {}).toEqual({});
      const written = await client.batchWriteItem({
        RequestItems: {[TableName]: [{PutRequest: {Item: {...key('c')}}}, {DeleteRequest: {Key: key('a')}}]},
      });
      expect(written.UnprocessedItems ?? {}).toEqual({});
      const again = await client.batchGetItem({RequestItems: {[TableName]: {Keys: [key('a'), key('c')], ConsistentRead: true}}});
      expect(again.Responses![TableName]).toEqual([key('c')]);
      const twice = await fails(client.batchGetItem({RequestItems: {[TableName]: {Keys: [key('a'), key('a')]}}}));
      expect(twice.name).toBe('ValidationException');
    });

    test('a transaction happens whole or says for each action why not', async () => {
      const {client, TableName, key, put, get} = ask();
      await put('a', {v: n(1)});
      const action = (sk: string, more: object = {}) => ({Put: {TableName, Item: {...key(sk), v: n(2)}, ...more}});
      const free = {ConditionExpression: 'attribute_not_exists(pk)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const};
      const error = await fails(client.transactWriteItems({TransactItems: [action('b', free), action('a', free)]}));
      expect([error.name, error.CancellationReasons!.map(({Code}) => Code)]).toEqual([
        'TransactionCanceledException',
        ['None', 'ConditionalCheckFailed'],
      ]);
      expect(error.CancellationReasons![1]!.Item).toEqual({...key('a'), v: n(1)});
      expect(await get('b')).toBeUndefined();
      await client.transactWriteItems({
        TransactItems: [
          action('b', free),
          {Update: {TableName, Key: key('a'), UpdateExpression: 'SET v = v + :v', ExpressionAttributeValues: {':v': n(5)}}},
          {ConditionCheck: {TableName, Key: key('c'), ConditionExpression: 'attribute_not_exists(pk)'}},
        ],
      });
      const {Responses} = await client.transactGetItems({
        TransactItems: ['a', 'b', 'c'].map((sk) => ({Get: {TableName, Key: key(sk)}})),
      });
      expect(Responses!.map(({Item}) => Item?.['v']?.N)).toEqual(['6', '2', undefined]);
      const twice = await fails(client.transactWriteItems({TransactItems: [action('x'), action('x')]}));
      expect(twice.name).toBe('ValidationException');
    });

    test('a client token makes a transaction happen once, and is of one request only', async () => {
      const {client, TableName, key, get, put} = ask();
      const add = (by: number, ClientRequestToken: string) =>
        client.transactWriteItems({
          ClientRequestToken,
          TransactItems: [
            {Update: {TableName, Key: key('a'), UpdateExpression: 'ADD v :by', ExpressionAttributeValues: {':by': n(by)}}},
            {Put: {TableName, Item: key(`of ${ClientRequestToken}`)}},
          ],
        });
      const token = `token-${Math.random()}`.slice(0, 36);
      await put('a', {v: n(1)});
      await add(1, token);
      await add(1, token);
      expect((await get('a'))!['v']).toEqual(n(2));
      expect((await fails(add(2, token))).name).toBe('IdempotentParameterMismatchException');
    });

    test('what is asked wrongly is told', async () => {
      const {client, TableName, key, put, query, update} = ask();
      const wrong: Promise<unknown>[] = [
        put('a', {}, {ConditionExpression: 'rev == :x'}),
        put('a', {}, {ConditionExpression: 'rev = :x'}),
        put('a', {}, {ConditionExpression: 'attribute_exists(pk)', ExpressionAttributeValues: {':unused': n(1)}}),
        put('', {}),
        put('k'.repeat(1025), {}),
        put('a', {body: {B: new Uint8Array(400 * 1024)}}),
        client.getItem({TableName, Key: {pk: {S: 'x'}}}),
        client.getItem({TableName, Key: {pk: {S: 'x'}, sk: n(1)}}),
        query('pk = :pk AND contains(sk, :x)', {':x': {S: 'x'}}),
        query('sk = :pk', {}),
        update('a', 'SET sk = :x', {':x': {S: 'b'}}),
        update('a', 'SET v = absent + :x', {':x': n(1)}),
        update('a', 'SET v = :x SET w = :x', {':x': n(1)}),
        update('a', 'SET v = :x, v = :y', {':x': n(1), ':y': n(2)}),
        client.transactWriteItems({TransactItems: Array.from({length: 101}, (_, at) => ({Put: {TableName, Item: key(`t${at}`)}}))}),
        client.batchGetItem({RequestItems: {[TableName]: {Keys: Array.from({length: 101}, (_, at) => key(`t${at}`))}}}),
      ];
      const names = await Promise.all(wrong.map(async (call) => (await fails(call)).name));
      expect(names).toEqual(wrong.map(() => 'ValidationException'));
      const nowhere = await fails(client.getItem({TableName: 'nowhere', Key: key('a')}));
      expect(nowhere.name).toBe('ResourceNotFoundException');
    });

    test('consumed capacity is told to who asks', async () => {
      const {client, TableName, key, put} = ask();
      const total = {ReturnConsumedCapacity: 'TOTAL' as const};
      const body = {B: new Uint8Array(5_000)};
      expect((await put('a', {body}, total)).ConsumedCapacity!.CapacityUnits).toBe(5);
      const read = async (ConsistentRead: boolean) =>
        (await client.getItem({TableName, Key: key('a'), ConsistentRead, ...total})).ConsumedCapacity!.CapacityUnits;
      expect([await read(true), await read(false)]).toEqual([2, 1]);
      const transacted = await client.transactWriteItems({TransactItems: [{Put: {TableName, Item: {...key('b'), body}}}], ...total});
      expect(transacted.ConsumedCapacity![0]!.CapacityUnits).toBe(10);
      expect((await client.getItem({TableName, Key: key('nothing'), ConsistentRead: true, ...total})).ConsumedCapacity!.CapacityUnits).toBe(
        1,
      );
    });
  });
}
