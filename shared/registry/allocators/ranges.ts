/** Ranges of addresses and of ports as numbers, and the choice of a free one. Pure: the random source is an argument. */
import ipaddr from 'ipaddr.js';
import {parseCidr, parseIp, printIp} from '../../kinds/common/ip.ts';

export type Family = 'IPv4' | 'IPv6';

export interface AddressRange {
  family: Family;
  cidr: string;
  /** The first address as a number. */
  base: bigint;
  /** Addresses that can be handed out have these offsets: the network's own address is not one, nor is IPv4's broadcast. */
  firstOffset: bigint;
  lastOffset: bigint;
}

const toNumber = (bytes: readonly number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** @throws Error for what is no CIDR block */
export function addressRange(cidr: string): AddressRange {
  const block = parseCidr(cidr);
  if (!block) throw new Error(`invalid service IP range ${JSON.stringify(cidr)}`);
  const [address, length] = block;
  const bytes = address.toByteArray();
  const hostBits = BigInt(bytes.length * 8 - length);
  const base = (toNumber(bytes) >> hostBits) << hostBits;
  const family = address.kind() === 'ipv4' ? 'IPv4' : 'IPv6';
  const lastOffset = (1n << hostBits) - (family === 'IPv4' ? 2n : 1n);
  return {family, cidr, base, firstOffset: 1n, lastOffset};
}

export function addressAt({family, base}: AddressRange, offset: bigint): string {
  let value = base + offset;
  const bytes: number[] = [];
  for (let index = 0; index < (family === 'IPv4' ? 4 : 16); index++) {
    bytes.unshift(Number(value & 0xffn));
    value >>= 8n;
  }
  return printIp(ipaddr.fromByteArray(bytes));
}

export function contains({family, base, firstOffset, lastOffset}: AddressRange, text: string): boolean {
  const address = parseIp(text);
  if (!address || (address.kind() === 'ipv4' ? 'IPv4' : 'IPv6') !== family) return false;
  const offset = toNumber(address.toByteArray()) - base;
  return offset >= firstOffset && offset <= lastOffset;
}

/**
 * The lower end of a range is left to those who ask for an address by name: automatic choice takes it last. As large as the reference
 * makes it: between 16 and 256 addresses, a sixteenth of the range.
 */
export function reservedOffsets({firstOffset, lastOffset}: AddressRange): bigint {
  const size = lastOffset - firstOffset + 1n;
  if (size < 16n) return 0n;
  const sixteenth = size / 16n;
  return sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth;
}

/** A number in [0, below). */
export type Random = (below: number) => number;

/** Candidates of [first, last], starting anywhere, each once. Ranges beyond what can be walked are sampled. */
function* around(first: bigint, last: bigint, random: Random): Generator<bigint> {
  const count = last - first + 1n;
  if (count <= 0n) return;
  const bounded = Number(count > 1_000_000n ? 1_000_000n : count);
  const start = BigInt(random(bounded));
  for (let step = 0n; step < count; step++) yield first + ((start + step) % count);
}

/** Free offsets in the order in which to try them. */
export function* freeAddresses(range: AddressRange, isTaken: (address: string) => boolean, random: Random): Generator<string> {
  const border = range.firstOffset + reservedOffsets(range);
  for (const [first, last] of [
    [border, range.lastOffset],
    [range.firstOffset, border - 1n],
  ] as const)
    for (const offset of around(first, last, random)) {
      const address = addressAt(range, offset);
      if (!isTaken(address)) yield address;
    }
}

export interface PortRange {
  first: number;
  last: number;
}

/** Both ends count; a range whose ends lie close has nothing reserved. */
export function* freePorts({first, last}: PortRange, isTaken: (port: number) => boolean, random: Random): Generator<number> {
  const size = last - first + 1;
  const reserved = size < 32 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  for (const [from, to] of [
    [first + reserved, last],
    [first, first + reserved - 1],
  ] as const)
    for (const port of around(BigInt(from), BigInt(to), random)) if (!isTaken(Number(port))) yield Number(port);
}
