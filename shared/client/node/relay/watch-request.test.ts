/** What is carried over the WebSocket, and what is better answered by the server. */
import {expect, test} from 'vitest';
import {watchRequest} from './watch-request.ts';

test('only what is surely a watch of a collection, in JSON, by the connection’s own user, is carried', () => {
  const carried = (url: string, headers = {}, method = 'GET') => watchRequest(method, url, headers) !== undefined;
  expect(carried('/apis/apps/v1/deployments?watch=true')).toBe(true);
  expect(carried('/api/v1/pods?watch=1', {accept: 'application/vnd.kubernetes.protobuf, */*'})).toBe(true);
  expect(carried('/api/v1/pods?watch=1', {accept: 'application/vnd.kubernetes.protobuf'})).toBe(false);
  expect(carried('/api/v1/pods?watch=0')).toBe(false);
  expect(carried('/api/v1/pods')).toBe(false);
  expect(carried('/api/v1/pods?watch=1', {}, 'DELETE')).toBe(false);
  expect(carried('/api/v1/watch/pods?watch=1')).toBe(false);
  expect(carried('/api/v1/namespaces/a/pods/b/log?watch=1')).toBe(false);
  expect(carried('/version?watch=1')).toBe(false);
  expect(carried('/api/v1/pods?watch=1&resourceVersion=1&includeObject=Object')).toBe(false);
  expect(carried('/api/v1/pods?watch=1', {'impersonate-user': 'bob'})).toBe(false);
});
