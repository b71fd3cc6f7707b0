import {expect, test} from 'vitest';
import type {RestApi} from './deployed.ts';
import {type RestRequest, restEvent} from './rest-event.ts';

const api: RestApi = {
  id: 'a1b2c3',
  stage: 'k8s',
  region: 'us-east-1',
  accountId: '000000000000',
  binaryMediaTypes: ['*/*'],
  resources: [],
  responses: {},
};
const match = {resource: {id: 'r', path: '/api/{name}/{path+}', methods: {}}, parameters: {name: 'a%2Fb', path: 'c//d'}};
const request = (change: Partial<RestRequest> = {}): RestRequest => ({
  method: 'GET',
  path: '/api/a%2Fb/c//d',
  query: '',
  rawHeaders: [],
  body: Buffer.alloc(0),
  sourceIp: '127.0.0.1',
  receivedAt: new Date('2026-11-21T12:31:07Z'),
  ...change,
});

test('the path stays percent-encoded, its parameters are decoded', () => {
  const event = restEvent(request(), match, api);
  expect(event).toMatchObject({path: '/api/a%2Fb/c//d', resource: '/api/{name}/{path+}', pathParameters: {name: 'a/b', path: 'c//d'}});
  expect(event.requestContext).toMatchObject({path: '/k8s/api/a%2Fb/c//d', stage: 'k8s', requestTime: '21/Nov/2026:12:31:07 +0000'});
});

test('a query is decoded, repeats are kept in order, a semicolon splits', () => {
  const event = restEvent(request({query: 'a=1;b=x%2Fy&a=2+3&flag&e=100%'}), match, api);
  expect(event.multiValueQueryStringParameters).toEqual({a: ['1', '2 3'], b: ['x/y'], flag: [''], e: ['100%']});
  expect(event.queryStringParameters).toMatchObject({a: '2 3'});
  expect(restEvent(request(), match, api).queryStringParameters).toBeNull();
});

test('headers keep their case and their repeats; those of the hop are gone', () => {
  const rawHeaders = ['Impersonate-Group', 'a', 'Impersonate-Group', 'b', 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1', 'accept', 'x'];
  const {headers, multiValueHeaders} = restEvent(request({rawHeaders}), match, api);
  expect(multiValueHeaders).toMatchObject({'Impersonate-Group': ['a', 'b'], accept: ['x'], 'X-Forwarded-For': ['127.0.0.1']});
  expect(headers['Impersonate-Group']).toBe('b');
  expect(Object.keys(headers).join()).not.toMatch(/connection|upgrade/i);
});

test('a body is base64 where its type counts as binary, and absent where there is none', () => {
  const body = Buffer.from('{"a":1}');
  expect(restEvent(request({body}), match, api)).toMatchObject({body: body.toString('base64'), isBase64Encoded: true});
  expect(restEvent(request({body}), match, {...api, binaryMediaTypes: []})).toMatchObject({body: '{"a":1}', isBase64Encoded: false});
  expect(restEvent(request(), match, api)).toMatchObject({body: null, isBase64Encoded: false});
});
