import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import {systemClock} from '../../shared/clock.ts';
import {openCloud} from './cloud.ts';
import {MetadataService} from './metadata-service.ts';

const mac = '0e:00:00:00:00:01';
const second = '0e:00:00:00:00:02';
const machine: Readonly<Record<string, string>> = {
  'instance-id': 'i-0123456789abcdef0',
  'instance-type': 'm7g.large',
  'placement/availability-zone': 'eu-west-1a',
  'placement/region': 'eu-west-1',
  'local-hostname': 'IP-10-0-0-7.eu-west-1.compute.internal other.example.com',
  'local-ipv4': '10.0.0.7',
  'public-ipv4': '203.0.113.7',
  'public-hostname': 'ec2-203-0-113-7.eu-west-1.compute.amazonaws.com',
  'network/interfaces/macs/': `${second}/\n${mac}/`,
  [`network/interfaces/macs/${mac}/device-number`]: '0',
  [`network/interfaces/macs/${mac}/local-ipv4s`]: '10.0.0.7\n10.0.0.8',
  [`network/interfaces/macs/${mac}/ipv6s`]: '2001:db8::7',
  [`network/interfaces/macs/${second}/device-number`]: '1',
  [`network/interfaces/macs/${second}/local-ipv4s`]: '10.0.1.7',
};

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Fake {
  endpoint: string;
  requests: string[];
  facts: Record<string, string>;
  /** Codes to answer with first, `0` for no answer at all. */
  trouble: number[];
  forgetTokens(): void;
}

/** The service as an instance sees it: no path without a token, no token without its length of life, nothing to who was forwarded. */
async function fakeService(facts: Readonly<Record<string, string>> = machine): Promise<Fake> {
  let tokens = new Set<string>();
  const fake: Fake = {
    endpoint: '',
    requests: [],
    facts: {...facts},
    trouble: [],
    forgetTokens: () => {
      tokens = new Set();
    },
  };
  const server = http.createServer((request, response) => {
    fake.requests.push(`${request.method} ${request.url}`);
    const code = fake.trouble.shift();
    if (code === 0) return;
    if (code !== undefined) return void response.writeHead(code).end();
    if (request.url === '/latest/api/token') {
      const seconds = Number(request.headers['x-aws-ec2-metadata-token-ttl-seconds']);
      if (request.method !== 'PUT' || !(seconds >= 1 && seconds <= 21_600)) return void response.writeHead(400).end();
      const token = `token-${tokens.size}`;
      tokens.add(token);
      return void response.end(token);
    }
    if (!tokens.has(String(request.headers['x-aws-ec2-metadata-token']))) return void response.writeHead(401).end();
    const found = fake.facts[request.url!.slice('/latest/meta-data/'.length)];
    if (found === undefined) return void response.writeHead(404).end();
    response.end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  fake.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

const settings = (values: Record<string, string>) => ({text: (name: string) => values[name] ?? ''});
const open = ({endpoint}: Fake, more: Record<string, string> = {}) =>
  openCloud(settings({'cloud-provider': 'aws', ...more}), systemClock, {AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint});
const quick = ({endpoint}: Fake) => new MetadataService({endpoint, clock: systemClock, timeoutMs: 500, attempts: 3, firstPauseMs: 1});

describe('a node on EC2', () => {
  test('is called, labelled and addressed as its instance says', async () => {
    const cloud = await open(await fakeService());
    expect(cloud).toMatchObject({
      name: 'ip-10-0-0-7.eu-west-1.compute.internal',
      providerId: 'aws:///eu-west-1a/i-0123456789abcdef0',
      labels: {
        'node.kubernetes.io/instance-type': 'm7g.large',
        'topology.kubernetes.io/zone': 'eu-west-1a',
        'topology.kubernetes.io/region': 'eu-west-1',
      },
    });
    expect(cloud.addresses?.map(({type, address}) => `${type} ${address}`)).toEqual([
      'InternalIP 10.0.0.7',
      'InternalIP 10.0.0.8',
      'InternalIP 10.0.1.7',
      'InternalIP 2001:db8::7',
      'ExternalIP 203.0.113.7',
      'InternalDNS ip-10-0-0-7.eu-west-1.compute.internal',
      'Hostname ip-10-0-0-7.eu-west-1.compute.internal',
      'ExternalDNS ec2-203-0-113-7.eu-west-1.compute.amazonaws.com',
    ]);
  });

  test('prefers the address that --node-ip names', async () => {
    const cloud = await open(await fakeService(), {'node-ip': '10.0.1.7'});
    expect(cloud.addresses?.[0]).toEqual({type: 'InternalIP', address: '10.0.1.7'});
  });

  test('without public addresses has none; its region is read from its zone where nobody says it', async () => {
    const {'public-ipv4': _ip, 'public-hostname': _name, 'placement/region': _region, ...inside} = machine;
    const cloud = await open(await fakeService({...inside, 'placement/availability-zone': 'us-west-2-lax-1a'}));
    expect(cloud.addresses?.some(({type}) => type.startsWith('External'))).toBe(false);
    expect(cloud.labels['topology.kubernetes.io/region']).toBe('us-west-2');
  });

  test('hears of addresses that come later', async () => {
    const fake = await fakeService();
    const cloud = await open(fake);
    fake.facts['public-ipv4'] = '203.0.113.9';
    await cloud.refresh();
    expect(cloud.addresses).toContainEqual({type: 'ExternalIP', address: '203.0.113.9'});
  });

  test('does not believe everything', async () => {
    const lies: Record<string, string> = {
      'instance-id': '../../x',
      'placement/availability-zone': 'a b',
      'instance-type': '',
      'local-hostname': '_',
    };
    for (const [path, value] of Object.entries(lies))
      await expect(open(await fakeService({...machine, [path]: value}))).rejects.toThrow(/instance/);
    const cloud = await open(await fakeService({...machine, 'public-ipv4': '<html>', 'public-hostname': '<html>'}));
    expect(cloud.addresses?.some(({type}) => type.startsWith('External'))).toBe(false);
  });
});

describe('the metadata service', () => {
  test('is asked by one token, and by another when that is not believed any more', async () => {
    const fake = await fakeService();
    const service = quick(fake);
    await service.get('instance-id');
    await service.get('instance-type');
    fake.forgetTokens();
    expect(await service.get('local-ipv4')).toBe('10.0.0.7');
    expect(fake.requests.filter((line) => line.startsWith('PUT'))).toHaveLength(2);
    expect(await service.get('spot/instance-action')).toBeUndefined();
  });

  test('is asked again when it is busy, fails or does not answer', async () => {
    const fake = await fakeService();
    fake.trouble = [503, 429];
    expect(await quick(fake).get('instance-type')).toBe('m7g.large');
    fake.trouble = [0, 500];
    expect(await quick(fake).get('instance-type')).toBe('m7g.large');
  });

  test('that never answers is given up, with a word on what may be in the way', async () => {
    const fake = await fakeService();
    fake.trouble = Array.from({length: 3}, () => 0);
    const service = new MetadataService({endpoint: fake.endpoint, clock: systemClock, timeoutMs: 20, attempts: 3, firstPauseMs: 1});
    await expect(service.get('instance-id')).rejects.toThrow(/cannot be reached: no answer in 20 ms.*hop limit/);
  });

  test('that is switched off says so at once, and is never asked without a token', async () => {
    const fake = await fakeService();
    fake.trouble = [403];
    await expect(quick(fake).get('instance-id')).rejects.toThrow('switched off');
    expect(fake.requests).toEqual(['PUT /latest/api/token']);
  });

  test('whose answer has no end is cut off', async () => {
    const fake = await fakeService({...machine, 'instance-id': 'i'.repeat(200_000)});
    await expect(quick(fake).get('instance-id')).rejects.toThrow('too long');
  });
});

test('a node of an external provider waits for it, and tells it its address', async () => {
  const cloud = await openCloud(settings({'cloud-provider': 'external', 'node-ip': '10.0.0.7'}), systemClock, {});
  expect(cloud).toMatchObject({
    taints: [{key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule'}],
    annotations: {'alpha.kubernetes.io/provided-node-ip': '10.0.0.7'},
    keepsAddresses: true,
  });
  expect((await openCloud(settings({}), systemClock, {})).taints).toEqual([]);
});
