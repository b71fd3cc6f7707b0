import {describe, expect, test} from 'vitest';
import {isReason, type StatusError} from '../../errors.ts';
import type {JsonObject, KubeObject} from '../../object.ts';
import type {Claims, Owner} from './claims.ts';
import {addressAt, addressRange, contains, freeAddresses, reservedOffsets} from './ranges.ts';
import {planRepair, type ServiceAllocator, serviceAllocator} from './service.ts';

class MemoryClaims implements Claims {
  readonly records = new Map<string, Owner>();
  async claim(key: string, owner: Owner): Promise<boolean> {
    await Promise.resolve();
    if (this.records.has(key)) return false;
    this.records.set(key, owner);
    return true;
  }
  async release(key: string): Promise<void> {
    this.records.delete(key);
  }
  async taken(): Promise<ReadonlyMap<string, Owner>> {
    return new Map(this.records);
  }
}

interface World {
  addresses: MemoryClaims;
  ports: MemoryClaims;
  server(random?: (below: number) => number): ServiceAllocator;
}

function world(ranges = ['10.0.0.0/24'], nodePorts = {first: 30000, last: 32767}): World {
  const addresses = new MemoryClaims();
  const ports = new MemoryClaims();
  return {addresses, ports, server: (random = () => 0) => serviceAllocator({ranges, nodePorts, addresses, ports, random})};
}

const service = (name: string, spec: JsonObject): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: {name, namespace: 'n'},
  spec: {type: 'ClusterIP', sessionAffinity: 'None', ports: [{port: 80, protocol: 'TCP', targetPort: 80}], ...spec},
});

const message = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => undefined,
    (thrown: StatusError) => thrown,
  );
  expect(isReason(error, 'Invalid')).toBe(true);
  return error!.status.message!;
};

describe('addresses', () => {
  test('a service gets one, and it is claimed', async () => {
    const {server, addresses} = world();
    const object = service('s', {});
    await (await server().allocate(object, undefined, false)).commit();
    expect(object.spec.clusterIPs).toEqual([object.spec.clusterIP]);
    expect(object.spec).toMatchObject({ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack'});
    expect([...addresses.records]).toEqual([[object.spec.clusterIP, {namespace: 'n', name: 's'}]]);
  });

  test('an address that is asked for and taken is refused', async () => {
    const {server} = world();
    await server().allocate(service('one', {clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9']}), undefined, false);
    expect(await message(server().allocate(service('two', {clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9']}), undefined, false))).toBe(
      'Service "two" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: provided IP is already allocated',
    );
  });

  test('neither a stranger nor the network itself can be had', async () => {
    for (const ip of ['1.2.3.4', '10.0.0.0', '10.0.0.255'])
      expect(
        await message(
          world()
            .server()
            .allocate(service('s', {clusterIP: ip, clusterIPs: [ip]}), undefined, false),
        ),
      ).toContain(`failed to allocate IP ${ip}: the provided network does not match the current range`);
  });

  test('several servers never hand out the same one, and together all of them', async () => {
    const {server, addresses} = world(['10.0.0.0/28']);
    const servers = [server(() => 0), server(() => 0), server((below) => below - 1)];
    const objects = Array.from({length: 14}, (_, index) => service(`s${index}`, {}));
    await Promise.all(objects.map((object, index) => servers[index % 3]!.allocate(object, undefined, false)));
    expect(new Set(objects.map(({spec}) => spec.clusterIP)).size).toBe(14);
    expect(addresses.records.size).toBe(14);
    await expect(server().allocate(service('more', {}), undefined, false)).rejects.toThrow('range is full');
  });

  test('a failed write gives back what it claimed', async () => {
    const {server, addresses, ports} = world();
    const claim = await server().allocate(service('s', {type: 'NodePort'}), undefined, false);
    expect(addresses.records.size + ports.records.size).toBe(2);
    await claim.release();
    expect(addresses.records.size + ports.records.size).toBe(0);
  });

  test('a refused port gives the address back', async () => {
    const {server, addresses} = world();
    const low = service('s', {type: 'NodePort', ports: [{port: 80, protocol: 'TCP', nodePort: 80}]});
    expect(await message(server().allocate(low, undefined, false))).toBe(
      'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    expect(addresses.records.size).toBe(0);
  });

  test('a dry run claims nothing', async () => {
    const {server, addresses, ports} = world();
    const object = service('s', {type: 'NodePort'});
    await (await server().allocate(object, undefined, true)).release();
    expect(object.spec.clusterIP).toBe('10.0.0.0');
    expect(addresses.records.size + ports.records.size).toBe(0);
  });
});

describe('families', () => {
  test('headless without a selector can be of any family', async () => {
    const object = service('s', {clusterIP: 'None', clusterIPs: ['None']});
    await world().server().allocate(object, undefined, false);
    expect(object.spec).toMatchObject({clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack'});
  });

  test('a cluster with one family cannot give two, but may be asked to prefer them', async () => {
    const {server} = world();
    expect(await message(server().allocate(service('s', {ipFamilyPolicy: 'RequireDualStack'}), undefined, false))).toContain(
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    );
    expect(await message(server().allocate(service('s', {ipFamilies: ['IPv6']}), undefined, false))).toContain(
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    );
    const object = service('s', {ipFamilyPolicy: 'PreferDualStack'});
    await server().allocate(object, undefined, false);
    expect(object.spec.ipFamilies).toEqual(['IPv4']);
  });

  test('a cluster with two gives two, and takes the second back', async () => {
    const {server, addresses} = world(['10.0.0.0/24', 'fd00:10::/112']);
    const object = service('s', {ipFamilyPolicy: 'PreferDualStack'});
    await (await server().allocate(object, undefined, false)).commit();
    expect(object.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(addresses.records.size).toBe(2);
    const single = structuredClone(object);
    single.spec.ipFamilyPolicy = 'SingleStack';
    await (await server().allocate(single, object, false)).commit();
    expect(single.spec.clusterIPs).toEqual([object.spec.clusterIP]);
    expect([...addresses.records.keys()]).toEqual([object.spec.clusterIP]);
  });
});

describe('a change of type', () => {
  test('takes ports when they are needed and gives them back when not', async () => {
    const {server, addresses, ports} = world();
    const plain = service('s', {});
    await (await server().allocate(plain, undefined, false)).commit();
    const exposed = structuredClone(plain);
    exposed.spec.type = 'NodePort';
    await (await server().allocate(exposed, plain, false)).commit();
    expect([...ports.records.keys()]).toEqual([String(exposed.spec.ports[0].nodePort)]);
    const named = service('s', {type: 'ExternalName', externalName: 'a.b'});
    await (await server().allocate(named, exposed, false)).commit();
    expect(addresses.records.size + ports.records.size).toBe(0);
  });

  test('a port that serves two protocols is claimed once', async () => {
    const {server, ports} = world();
    const object = service('s', {
      type: 'NodePort',
      ports: [
        {name: 'a', port: 53, protocol: 'TCP'},
        {name: 'b', port: 53, protocol: 'UDP'},
      ],
    });
    await server().allocate(object, undefined, false);
    expect(object.spec.ports[0].nodePort).toBe(object.spec.ports[1].nodePort);
    expect(ports.records.size).toBe(1);
  });

  test('a client that leaves out what the server chose keeps it', async () => {
    const {server, ports} = world();
    const object = service('s', {type: 'NodePort'});
    await (await server().allocate(object, undefined, false)).commit();
    const again = service('s', {type: 'NodePort'});
    await (await server().allocate(again, object, false)).commit();
    expect(again.spec.clusterIP).toBe(object.spec.clusterIP);
    expect(again.spec.ports).toEqual(object.spec.ports);
    expect(ports.records.size).toBe(1);
  });

  test('deletion gives everything back', async () => {
    const {server, addresses, ports} = world();
    const object = service('s', {type: 'LoadBalancer', externalTrafficPolicy: 'Local', allocateLoadBalancerNodePorts: true});
    await (await server().allocate(object, undefined, false)).commit();
    expect([addresses.records.size, ports.records.size]).toEqual([1, 2]);
    await server().release(object);
    expect([addresses.records.size, ports.records.size]).toEqual([0, 0]);
  });
});

test('repair claims what is used and names what is not', () => {
  const owner = {namespace: 'n', name: 'old'};
  const used = service('s', {type: 'NodePort', clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'], ports: [{port: 1, nodePort: 30001}]});
  const plan = planRepair([used], new Map([['10.0.0.6', owner]]), new Map([['30001', owner]]));
  expect(plan.claim.map(({key}) => key)).toEqual(['10.0.0.5']);
  expect(plan.release.map(({key}) => key)).toEqual(['10.0.0.6']);
});

describe('ranges', () => {
  test('the ends of an IPv4 block are not handed out', () => {
    const range = addressRange('10.0.0.0/30');
    expect([
      ...freeAddresses(
        range,
        () => false,
        () => 0,
      ),
    ]).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(contains(range, '10.0.0.3')).toBe(false);
    expect(addressAt(addressRange('fd00::/112'), 0xabcn)).toBe('fd00::abc');
  });
  test('the lower end is taken last', () => {
    const range = addressRange('10.0.0.0/24');
    expect(reservedOffsets(range)).toBe(16n);
    expect(
      freeAddresses(
        range,
        () => false,
        () => 0,
      ).next().value,
    ).toBe('10.0.0.17');
  });
});
