import {describe, expect, test} from 'vitest';
import {addressOf, isGlobalUnicast} from './address.ts';

test.each([
  '10.0.0.1',
  '192.168.1.1',
  '8.8.8.8',
  '100.64.0.1',
  'fd00::1',
  '2001:db8::1',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '1:2:3:4:5:6:7:8',
  '64:ff9b::1',
])('%s may be named by a stranger', (address) => expect(isGlobalUnicast(address)).toBe(true));

test.each([
  '',
  'localhost',
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '255.255.255.255',
  '169.254.169.254',
  '224.0.0.1',
  '239.255.255.255',
  '10.0.0.256',
  '10.0.0',
  '010.0.0.1.1',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  'fe80::1',
  'febf::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:169.254.169.254',
  '1::2::3',
  '1:2:3:4:5:6:7:8:9',
  'fd00::12345',
  'fd00::1%eth0',
])('%s may not', (address) => expect(isGlobalUnicast(address)).toBe(false));

describe('a node’s address', () => {
  const node = (status: object) => ({kind: 'Node', apiVersion: 'v1', metadata: {name: 'a'}, status});

  test('is the one that needs no resolver, at the port that it told', () => {
    const addresses = [
      {type: 'Hostname', address: 'a'},
      {type: 'ExternalIP', address: '192.0.2.1'},
      {type: 'InternalIP', address: '10.0.0.1'},
    ];
    expect(addressOf(node({addresses, daemonEndpoints: {kubeletEndpoint: {Port: 10_300}}}))).toEqual({host: '10.0.0.1', port: 10_300});
    expect(addressOf(node({addresses: addresses.slice(0, 2)}))).toEqual({host: 'a', port: 10_250});
  });

  test('is unknown before it tells one', () => {
    expect(addressOf(node({}))).toEqual({host: undefined, port: 10_250});
  });
});
