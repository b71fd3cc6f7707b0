import {existsSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {compare, grantsOf, grantTable, neverRan, type RecordedCall} from './least-privilege.ts';
import {synthesize} from './testing.ts';

const {resources} = synthesize();
const grants = grantsOf(resources);
const call = (own: Partial<RecordedCall>): RecordedCall => ({
  function: 'get',
  action: 'dynamodb:GetItem',
  resource: 'clusterless-default-objects',
  leadingKey: 'default|o|',
  count: 1,
  ...own,
});

describe('what the template grants', () => {
  const actions = (name: string, resource: string): string[] =>
    grants
      .filter((grant) => grant.function === name && grant.resource === resource)
      .map(({action, kind}) => `${action.replace('dynamodb:', '')} ${kind}`)
      .sort();

  test('no function may do everything, anywhere', () => {
    for (const {action, resource} of grants) {
      expect(action).not.toContain('*');
      if (resource === '*') expect(action).toBe('dynamodb:ListStreams');
    }
  });

  test('every item is granted by the kind of its partition', () => {
    for (const {action, resource, kind} of grants)
      if (['objects', 'log', 'connections'].includes(resource)) expect(kind, action).toMatch(/^[a-z]$/);
  });

  test('what reads objects cannot write them', () => {
    for (const name of ['get', 'list', 'discovery', 'openapi', 'health', 'metrics', 'review', 'connect', 'fan-out', 'socket-message'])
      expect(actions(name, 'objects').filter((each) => /^(Put|Delete|BatchWrite|Update)\w* /.test(each))).toEqual(['UpdateItem s']);
  });

  test('nobody deletes an item of the log, and only maintenance one of the objects', () => {
    const deleters = grants.filter(({action}) => action === 'dynamodb:DeleteItem');
    expect(new Set(deleters.map((grant) => `${grant.function} ${grant.resource}`))).toEqual(new Set(['maintenance objects']));
  });

  test('only deployments write parameters, and nobody but them reads the key of the CA', () => {
    expect(new Set(grants.filter(({action}) => action === 'ssm:PutParameter').map((grant) => grant.function))).toEqual(
      new Set(['bootstrap']),
    );
    const readers = grants.filter(({action, resource}) => action === 'ssm:GetParameters' && resource === 'client-ca-key');
    expect(new Set(readers.map((grant) => grant.function))).toEqual(new Set(['bootstrap']));
  });

  test('all keys that a batch may have are granted by one statement, since no two are put together', () => {
    for (const {Type, Properties} of Object.values(resources)) {
      if (Type !== 'AWS::IAM::Role') continue;
      const batches = (Properties['Policies'] ?? []).flatMap(({PolicyDocument}: {PolicyDocument: {Statement: Record<string, unknown>[]}}) =>
        PolicyDocument.Statement.flatMap(({Action, Resource}) =>
          [Action]
            .flat()
            .filter((action) => String(action).includes(':Batch'))
            .map((action) => `${action} ${JSON.stringify(Resource)}`),
        ),
      );
      expect(new Set(batches).size).toBe(batches.length);
    }
  });

  test('a table tells it', () => {
    expect(grantTable(grants)).toMatch(
      /\| get \| BatchGetItem os, GetItem cmos, Query o, UpdateItem s \| BatchGetItem l, GetItem l, PutItem l, Query l \| GetItem n \| ssm:/,
    );
  });
});

describe('the comparison', () => {
  test('finds a call that the role has no grant for', () => {
    expect(compare(grants, [call({action: 'dynamodb:PutItem'})], resources).lacking).toEqual(['get: dynamodb:PutItem on objects (o)']);
    expect(compare(grants, [call({leadingKey: 'default|x|'})], resources).lacking).toEqual(['get: dynamodb:GetItem on objects (x)']);
    expect(compare(grants, [call({resource: 'clusterless-default-connections'})], resources).lacking).toHaveLength(1);
  });

  test('finds a grant that nothing needed, in functions that ran', () => {
    const {lacking, unused} = compare(grants, [call({})], resources);
    expect(lacking).toEqual([]);
    expect(unused).toContain('get: dynamodb:Query on objects (o)');
    expect(unused.every((each) => each.startsWith('get: '))).toBe(true);
  });

  test('knows functions by their logical ids, and parameters and connections by their names', () => {
    const id = Object.entries(resources).find(([, {Properties}]) => Properties['Description'] === 'clusterless fan-out')![0];
    const calls = [
      call({function: id, action: 'execute-api:ManageConnections', resource: 'POST @connections', leadingKey: undefined!}),
      call({action: 'ssm:GetParameters', resource: '/clusterless/default/service-account-key'}),
    ];
    expect(compare(grants, calls, resources).lacking).toEqual([]);
    expect(neverRan(calls, resources)).not.toContain('fan-out');
    expect(neverRan(calls, resources)).toContain('create');
  });
});

const recorded = new URL('recorded-calls.json', import.meta.url);

describe.skipIf(!existsSync(recorded))('what a rehearsal recorded (infra/recorded-calls.json)', () => {
  const calls = existsSync(recorded) ? (JSON.parse(readFileSync(recorded, 'utf8')) as RecordedCall[]) : [];

  test('no role lacks what its function asked for', () => {
    expect(compare(grants, calls, resources).lacking).toEqual([]);
  });

  test('no role grants what its function never asks for', () => {
    expect(compare(grants, calls, resources).unused).toEqual([]);
  });

  test('every function ran', () => {
    expect(neverRan(calls, resources)).toEqual([]);
  });
});
