/** A node's own address, and which addresses a stranger may name. Pure. */
import type {KubeObject} from '../object.ts';

const defaultPort = 10_250;
/** An address needs no resolver; a name is the next best. */
const preferred = ['InternalIP', 'Hostname', 'InternalDNS', 'ExternalIP', 'ExternalDNS'];

export interface NodeAddress {
  /** Undefined for a node that has told none yet. */
  host: string | undefined;
  port: number;
}

export function addressOf({status}: KubeObject): NodeAddress {
  const addresses: {type: string; address: string}[] = status?.addresses ?? [];
  const known = preferred.flatMap((type) => addresses.filter((one) => one.type === type));
  const port: number = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return {host: known[0]?.address, port: port > 0 ? port : defaultPort};
}

/** Go's IsGlobalUnicast, of what is an address at all: no loopback, link-local, multicast, unspecified, broadcast. */
export function isGlobalUnicast(address: string): boolean {
  const four = /^(?:::ffff:)?(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/i.exec(address);
  if (four) {
    const [a, b, c, d] = four.slice(1).map(Number) as [number, number, number, number];
    if ([a, b, c, d].some((byte) => byte > 255)) return false;
    const isUnspecified = a + b + c + d === 0;
    const isBroadcast = a + b + c + d === 4 * 255;
    return !(isUnspecified || isBroadcast || a === 127 || (a >= 224 && a < 240) || (a === 169 && b === 254));
  }
  const words = wordsOf(address);
  if (!words) return false;
  // An IPv4 address in hexadecimal.
  if (words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff)
    return isGlobalUnicast([words[6]! >> 8, words[6]! & 255, words[7]! >> 8, words[7]! & 255].join('.'));
  const isLow = words.slice(0, 7).every((word) => word === 0) && words[7]! <= 1;
  return !(isLow || words[0]! >> 8 === 0xff || (words[0]! & 0xffc0) === 0xfe80);
}

function wordsOf(address: string): number[] | undefined {
  const halves = address.split('::');
  if (halves.length > 2 || !/^[0-9a-f:]+$/i.test(address) || !address.includes(':')) return undefined;
  const sides = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - sides.flat().length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = halves.length === 2 ? [...sides[0]!, ...Array<string>(missing).fill('0'), ...sides[1]!] : sides[0]!;
  return all.every((word) => /^[0-9a-f]{1,4}$/i.test(word)) ? all.map((word) => Number.parseInt(word, 16)) : undefined;
}
