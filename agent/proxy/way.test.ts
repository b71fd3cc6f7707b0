/** Where the API server's own address is enough for a pod, and where it is not. */
import {expect, test} from 'vitest';
import {directAddress} from './way.ts';

const of = (url: string, more: object = {}) => directAddress({url: new URL(url), ca: 'PEM', insecure: false, ...more});

test('a host, a port and the cluster’s CA are all that a pod can be told', () => {
  expect(of('https://10.1.2.3:6443')).toEqual({host: '10.1.2.3', port: 6443});
  expect(of('https://api.example/')).toEqual({host: 'api.example', port: 443});
  expect(of('https://[fd00::7]:6443')).toEqual({host: 'fd00::7', port: 6443});
});

test('a path, plain HTTP, public roots, another name or no verification at all need the proxy', () => {
  expect(of('https://api.example/prod')).toBeUndefined();
  expect(of('http://10.1.2.3:8001')).toBeUndefined();
  expect(of('https://10.1.2.3:6443', {ca: undefined})).toBeUndefined();
  expect(of('https://10.1.2.3:6443', {serverName: 'api.example'})).toBeUndefined();
  expect(of('https://10.1.2.3:6443', {insecure: true})).toBeUndefined();
});

test('what is this machine to the agent is another one to a pod', () => {
  for (const host of ['127.0.0.1', 'localhost', 'x.localhost', '[::1]', '0.0.0.0', '[::]', '127.1.2.3', '[::ffff:127.0.0.1]'])
    expect(of(`https://${host}:6443`), host).toBeUndefined();
});
