/** IP addresses and CIDR blocks as the reference reads, prints and refuses them. Go's parser is stricter than ipaddr.js: no leading zeros, no shorthand. */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Block = readonly [Address, number];

const dotted = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/;
const dottedLoose = /^\d{1,}(?:\.\d{1,}){3}$/;

/** Undefined for what is no address; zones are refused. `loose` accepts leading zeros, as the oldest fields do. */
export function parseIp(text: string, loose = false): Address | undefined {
  if (text.includes('%')) return undefined;
  let canonical = text;
  const tail = text.slice(text.lastIndexOf(':') + 1);
  if (tail.includes('.')) {
    if (loose && dottedLoose.test(tail)) {
      const decimal = tail.split('.').map(Number).join('.');
      canonical = text.slice(0, text.length - tail.length) + decimal;
    } else if (!dotted.test(tail)) return undefined;
    if (
      canonical
        .slice(text.length - tail.length)
        .split('.')
        .some((part) => Number(part) > 255)
    )
      return undefined;
  } else if (!text.includes(':')) return undefined;
  try {
    return ipaddr.parse(canonical);
  } catch {
    return undefined;
  }
}

/** Go prints an IPv4 address in IPv6 clothes as plain IPv4. */
export function printIp(address: Address): string {
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress())
    return (address as ipaddr.IPv6).toIPv4Address().toString();
  return address.kind() === 'ipv6' ? (address as ipaddr.IPv6).toRFC5952String() : address.toString();
}

export const notAnIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** The problems of a new-style address: valid, not IPv4 in IPv6, in the one canonical spelling. */
export function ipProblems(text: string): string[] {
  const address = parseIp(text);
  if (!address) return [parseIp(text, true) ? 'must not have leading 0s' : notAnIp];
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()) return ['must not be an IPv4-mapped IPv6 address'];
  const canonical = printIp(address);
  return canonical === text ? [] : [`must be in canonical form ("${canonical}")`];
}

/** The problems of an address in a field that predates the strict rules. */
export function legacyIpProblems(text: string): string[] {
  return parseIp(text, true) ? [] : [notAnIp];
}

export const ipFamily = (text: string): 'IPv4' | 'IPv6' => {
  const address = parseIp(text, true);
  if (!address || address.kind() === 'ipv4') return 'IPv4';
  return (address as ipaddr.IPv6).isIPv4MappedAddress() ? 'IPv4' : 'IPv6';
};

export function parseCidr(text: string, loose = false): Block | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash), loose);
  const bits = text.slice(slash + 1);
  if (!address || !/^(?:0|[1-9]\d{0,2})$/.test(loose ? String(Number(bits || 'x')) : bits)) return undefined;
  const length = Number(bits);
  if (length > (address.kind() === 'ipv4' ? 32 : 128)) return undefined;
  return [address, length];
}

/** Addresses in legacy fields that a stricter server would refuse or spell otherwise. */
export function ipWarnings(path: string, text: string): string[] {
  const address = parseIp(text, true);
  if (!address) return [];
  const canonical = printIp(address);
  const strict = parseIp(text);
  if (!strict || (strict.kind() === 'ipv6' && (strict as ipaddr.IPv6).isIPv4MappedAddress()))
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use "${canonical}"`];
  return strict.kind() === 'ipv6' && canonical !== text
    ? [`${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format ("${canonical}")`]
    : [];
}
