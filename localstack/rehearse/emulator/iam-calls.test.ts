import {expect, test} from 'vitest';
import {type AwsRequest, callsOf} from './iam-calls.ts';

const dynamo = (operation: string, body: object): AwsRequest => ({
  service: 'dynamodb',
  method: 'POST',
  url: '/',
  target: `DynamoDB_20120810.${operation}`,
  body: JSON.stringify(body),
});

test('a transaction takes the permissions of its parts, each on its keys', () => {
  const Put = {TableName: 'log', Item: {pk: {S: 'default|l|pods|3'}, sk: {N: '7'}}};
  const Update = {TableName: 'objects', Key: {pk: {S: 'default|o|pods'}, sk: {S: 'a/b'}}};
  expect(callsOf(dynamo('TransactWriteItems', {TransactItems: [{Put}, {Update}, {Put}]}))).toEqual([
    {action: 'dynamodb:PutItem', resource: 'log', leadingKey: 'default|l|'},
    {action: 'dynamodb:UpdateItem', resource: 'objects', leadingKey: 'default|o|'},
  ]);
});

test('batches have permissions of their own', () => {
  const Keys = [{pk: {S: 'default|s|config'}}, {pk: {S: 'default|o|pods'}}];
  expect(callsOf(dynamo('BatchGetItem', {RequestItems: {objects: {Keys}}}))).toEqual([
    {action: 'dynamodb:BatchGetItem', resource: 'objects', leadingKey: 'default|s|'},
    {action: 'dynamodb:BatchGetItem', resource: 'objects', leadingKey: 'default|o|'},
  ]);
  const DeleteRequest = {Key: {pk: {S: 'default|c|x'}}};
  expect(callsOf(dynamo('BatchWriteItem', {RequestItems: {objects: [{DeleteRequest}]}}))).toEqual([
    {action: 'dynamodb:BatchWriteItem', resource: 'objects', leadingKey: 'default|c|'},
  ]);
});

test('a query is on the partition that its condition names', () => {
  const asked = {
    TableName: 'log',
    KeyConditionExpression: 'pk = :pk AND sk > :from',
    ExpressionAttributeValues: {':pk': {S: 'default|l|pods|0'}},
  };
  expect(callsOf(dynamo('Query', asked))).toEqual([{action: 'dynamodb:Query', resource: 'log', leadingKey: 'default|l|'}]);
});

test('parameters, connections and functions are named', () => {
  const base = {method: 'POST', url: '/', target: '', body: ''};
  expect(callsOf({...base, service: 'ssm', target: 'AmazonSSM.GetParameters', body: '{"Names":["/a","/b"]}'})).toEqual([
    {action: 'ssm:GetParameters', resource: '/a'},
    {action: 'ssm:GetParameters', resource: '/b'},
  ]);
  expect(callsOf({...base, service: 'execute-api', url: '/_aws/execute-api/x/k8s/@connections/c'})).toEqual([
    {action: 'execute-api:ManageConnections', resource: 'POST @connections'},
  ]);
});
