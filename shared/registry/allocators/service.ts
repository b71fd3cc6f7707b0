/**
 * Addresses and node ports of services. `allocate` runs when a service is otherwise ready to be judged and stored: it fills what was left
 * to the server and claims all of it; `commit` gives back what the stored service no longer uses, `release` what a failed write claimed.
 */
import {failure, internalError, type StatusError} from '../../errors.ts';
import {type FieldError, invalid, invalidObject} from '../../field-errors.ts';
import {list, type Part} from '../../kinds/common/loose.ts';
import {isHeadless, needsHealthCheck, usesNodePorts} from '../../kinds/core/service.validate.ts';
import type {KubeObject} from '../../object.ts';
import type {Store} from '../../storage/contract.ts';
import {addressClaims, type Claims, nodePortClaims, type Owner} from './claims.ts';
import {keepsPreferred, settleFamilies} from './families.ts';
import {
  type AddressRange,
  addressAt,
  addressRange,
  contains,
  type Family,
  freeAddresses,
  freePorts,
  type PortRange,
  type Random,
} from './ranges.ts';

export interface Allocation {
  /** The service is stored: what it no longer uses is free again. */
  commit(): Promise<void>;
  /** The service is not stored: what it claimed is free again. Idempotent. */
  release(): Promise<void>;
}

export interface ServiceAllocator {
  /** @throws StatusError 422 for what is taken, out of range or not configured; 500 when nothing is free */
  allocate(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<Allocation>;
  /** The service is gone. */
  release(old: KubeObject): Promise<void>;
  /**
   * Brings the claims in line with the services that there are: claims what is used, gives back what is not and was already suspected
   * by the run before. (A claim without a service may belong to one that is being created this moment.)
   */
  repair(services: readonly KubeObject[], suspects?: ReadonlySet<string>): Promise<Repair>;
}

export interface Repair {
  claimed: string[];
  released: string[];
  /** Claims that no service uses: hand them to the next run. */
  suspects: ReadonlySet<string>;
}

export interface AllocatorOptions {
  /** CIDR blocks, one for each family, the default family first. */
  ranges: readonly string[];
  nodePorts: PortRange;
  addresses: Claims;
  ports: Claims;
  random?: Random;
}

const secureRandom: Random = (below) => Math.floor((crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32) * below);

/** Over a store; the usual way. */
export const createServiceAllocator = (options: {
  store: Store;
  now(): number;
  ranges: readonly string[];
  nodePorts: PortRange;
}): ServiceAllocator =>
  serviceAllocator({
    ranges: options.ranges,
    nodePorts: options.nodePorts,
    addresses: addressClaims(options.store, options.now),
    ports: nodePortClaims(options.store, options.now),
  });

/** Candidates tried blindly before all that is taken is read. */
const blindAttempts = 8;

export function serviceAllocator({ranges: cidrs, nodePorts, addresses, ports, random = secureRandom}: AllocatorOptions): ServiceAllocator {
  const ranges = cidrs.map(addressRange);
  const families = ranges.map(({family}) => family);
  const rangeOf = (family: Family): AddressRange => ranges.find((range) => range.family === family)!;

  async function claimAny<T>(
    claims: Claims,
    owner: Owner,
    candidates: (isTaken: (key: T) => boolean) => Generator<T>,
  ): Promise<T | undefined> {
    let attempts = 0;
    for (const candidate of candidates(() => false)) {
      if (await claims.claim(String(candidate), owner)) return candidate;
      if (++attempts >= blindAttempts) break;
    }
    const taken = await claims.taken();
    for (const candidate of candidates((key) => taken.has(String(key)))) if (await claims.claim(String(candidate), owner)) return candidate;
    return undefined;
  }

  async function allocate(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): Promise<Allocation> {
    object.spec ??= {};
    const {spec} = object;
    const before: Part | undefined = old?.spec;
    const owner: Owner = {namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? ''};
    const claimed: (() => Promise<void>)[] = [];
    const release = async (): Promise<void> => {
      for (const undo of claimed.splice(0).reverse()) await undo();
    };
    const refuse = (errors: FieldError[]): StatusError => invalidObject({group: '', kind: 'Service'}, owner.name, errors);

    const claimAddress = async (family: Family, wanted: string | undefined): Promise<string> => {
      const range = rangeOf(family);
      if (wanted) {
        const no = (why: string): StatusError =>
          refuse([invalid('spec.clusterIPs', list(spec.clusterIPs), `failed to allocate IP ${wanted}: ${why}`)]);
        // The reference has one allocator that takes and one that only looks, with words of their own.
        if (!contains(range, wanted))
          throw no(
            dryRun
              ? `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.cidr}`
              : 'the provided network does not match the current range',
          );
        if (dryRun) return wanted;
        if (!(await addresses.claim(wanted, owner))) throw no('provided IP is already allocated');
        claimed.push(() => addresses.release(wanted));
        return wanted;
      }
      if (dryRun) return addressAt(range, 0n);
      const found = await claimAny(addresses, owner, (isTaken: (key: string) => boolean) => freeAddresses(range, isTaken, random));
      if (found === undefined) throw internalError(new Error(`failed to allocate a serviceIP for Service "${owner.name}": range is full`));
      claimed.push(() => addresses.release(found));
      return found;
    };

    const claimPort = async (wanted: number | undefined, refused: (why: string) => StatusError): Promise<number> => {
      if (wanted) {
        if (wanted < nodePorts.first || wanted > nodePorts.last)
          throw refused(`provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`);
        if (dryRun) return wanted;
        if (!(await ports.claim(String(wanted), owner))) throw refused('provided port is already allocated');
        claimed.push(() => ports.release(String(wanted)));
        return wanted;
      }
      const candidates = (isTaken: (port: number) => boolean): Generator<number> => freePorts(nodePorts, isTaken, random);
      if (dryRun) return candidates(() => false).next().value as number;
      const found = await claimAny(ports, owner, candidates);
      if (found === undefined) throw internalError(new Error('failed to allocate a nodePort: range is full'));
      claimed.push(() => ports.release(String(found)));
      return found;
    };

    try {
      if (before) patchAllocated(spec, before);
      const errors = settleFamilies(spec, before, families);
      if (errors.length) throw refuse(errors);
      if (!keepsPreferred(spec, before)) await allocateAddresses(spec, before, claimAddress);
      await allocateNodePorts(spec, before, claimPort, refuse);
      await allocateHealthPort(spec, before, claimPort);
    } catch (error) {
      await release();
      throw error;
    }
    return {
      release,
      async commit() {
        claimed.length = 0;
        if (dryRun || !before) return;
        const kept = new Set([...addressesOf(spec), ...portsOf(spec).map(String)]);
        for (const address of addressesOf(before)) if (!kept.has(address)) await addresses.release(address);
        for (const port of portsOf(before)) if (!kept.has(String(port))) await ports.release(String(port));
      },
    };
  }

  return {
    allocate,
    async release({spec}) {
      for (const address of addressesOf(spec)) await addresses.release(address);
      for (const port of portsOf(spec)) await ports.release(String(port));
    },
    async repair(services, suspects = new Set()) {
      const plan = planRepair(services, await addresses.taken(), await ports.taken());
      const found = new Set(plan.release.map(suspectOf));
      const release = plan.release.filter((step) => suspects.has(suspectOf(step)));
      for (const {claims, key, owner} of plan.claim) await (claims === 'addresses' ? addresses : ports).claim(key, owner);
      for (const {claims, key} of release) await (claims === 'addresses' ? addresses : ports).release(key);
      return {claimed: plan.claim.map(({key}) => key), released: release.map(({key}) => key), suspects: found};
    },
  };
}

type ClaimAddress = (family: Family, wanted: string | undefined) => Promise<string>;
type ClaimPort = (wanted: number | undefined, refused: (why: string) => StatusError) => Promise<number>;

/** A client that replaces a service may leave out what the server had chosen. */
function patchAllocated(spec: Part, old: Part): void {
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!list(spec.clusterIPs).length && list(old.clusterIPs).length) spec.clusterIPs = [...old.clusterIPs];
  }
  if (usesNodePorts(spec) && usesNodePorts(old)) {
    const given = new Set(list(spec.ports).map(({nodePort}) => nodePort));
    for (const port of list(spec.ports)) {
      const before = list(old.ports).findLast(({name = ''}) => name === (port.name ?? ''))?.nodePort;
      if (!port.nodePort && before && !given.has(before)) port.nodePort = before;
    }
  }
  if (needsHealthCheck(spec) && needsHealthCheck(old) && !spec.healthCheckNodePort && old.healthCheckNodePort)
    spec.healthCheckNodePort = old.healthCheckNodePort;
}

async function allocateAddresses(spec: Part, old: Part | undefined, claim: ClaimAddress): Promise<void> {
  if (spec.type === 'ExternalName' || isHeadless(spec)) return;
  const stored = old && old.type !== 'ExternalName' ? addressesOf(old) : [];
  // An address that changes is refused in validation, in better words; nothing is claimed for it.
  const from = old && old.type !== 'ExternalName' ? stored.length : 0;
  if (old && isHeadless(old)) return;
  const ips: string[] = [...list(spec.clusterIPs)];
  for (const [index, family] of list(spec.ipFamilies).entries()) if (index >= from) ips[index] = await claim(family, ips[index]);
  spec.clusterIPs = ips;
  if (ips[0]) spec.clusterIP = ips[0];
}

const wantsNodePorts = (spec: Part): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

async function allocateNodePorts(
  spec: Part,
  old: Part | undefined,
  claim: ClaimPort,
  refuse: (errors: FieldError[]) => StatusError,
): Promise<void> {
  if (!usesNodePorts(spec)) return;
  const held = new Set(usesNodePorts(old) ? list(old?.ports).map(({nodePort}) => nodePort) : []);
  const all = list(spec.ports);
  for (const [index, port] of all.entries()) {
    if (!port.nodePort && !wantsNodePorts(spec)) continue;
    // One number serves a port in all its protocols.
    const shared = old ? undefined : (all.find((other) => other.port === port.port && other.nodePort)?.nodePort as number | undefined);
    const wanted: number | undefined = port.nodePort || shared;
    if (wanted && held.has(wanted)) {
      port.nodePort = wanted;
      continue;
    }
    port.nodePort = await claim(wanted, (why) => refuse([invalid(`spec.ports[${index}].nodePort`, wanted, why)]));
    held.add(port.nodePort);
  }
}

async function allocateHealthPort(spec: Part, old: Part | undefined, claim: ClaimPort): Promise<void> {
  if (!needsHealthCheck(spec) || needsHealthCheck(old)) return;
  const wanted: number | undefined = spec.healthCheckNodePort || undefined;
  spec.healthCheckNodePort = await claim(wanted, (why) =>
    failure(500, 'InternalError', `Internal error occurred: failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`),
  );
}

const addressesOf = (spec: Part): string[] =>
  spec?.type === 'ExternalName' || isHeadless(spec) ? [] : list(spec?.clusterIPs).filter((ip: string) => ip && ip !== 'None');

const portsOf = (spec: Part): number[] =>
  [
    ...new Set<number>([...list(spec?.ports).map(({nodePort}) => nodePort), ...(needsHealthCheck(spec) ? [spec.healthCheckNodePort] : [])]),
  ].filter(Boolean);

interface Step {
  claims: 'addresses' | 'ports';
  key: string;
  owner: Owner;
}

const suspectOf = ({claims, key, owner}: Step): string => `${claims} ${key} ${owner.namespace}/${owner.name}`;

/**
 * What to claim and what to give back. A claim by a service that is not there may belong to one that is being created this moment: run
 * this where nobody creates, or give back only what two runs in a row have found.
 */
export function planRepair(
  services: readonly KubeObject[],
  addresses: ReadonlyMap<string, Owner>,
  ports: ReadonlyMap<string, Owner>,
): {claim: Step[]; release: Step[]} {
  const claim: Step[] = [];
  const used = {addresses: new Set<string>(), ports: new Set<string>()};
  for (const {metadata, spec} of services) {
    const owner = {namespace: metadata.namespace ?? '', name: metadata.name ?? ''};
    const note = (claims: Step['claims'], key: string, taken: ReadonlyMap<string, Owner>): void => {
      used[claims].add(key);
      if (!taken.has(key)) claim.push({claims, key, owner});
    };
    for (const address of addressesOf(spec)) note('addresses', address, addresses);
    for (const port of portsOf(spec)) note('ports', String(port), ports);
  }
  const unused = (claims: Step['claims'], taken: ReadonlyMap<string, Owner>): Step[] =>
    [...taken].filter(([key]) => !used[claims].has(key)).map(([key, owner]) => ({claims, key, owner}));
  return {claim, release: [...unused('addresses', addresses), ...unused('ports', ports)]};
}
