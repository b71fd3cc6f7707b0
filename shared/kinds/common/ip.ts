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

const isMapped = (address: Address): boolean => address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress();

/** The problems of an address in an older field: leading zeros and IPv4 in IPv6 are refused, other spellings pass. */
export function legacyIpProblems(text: string): string[] {
  const address = parseIp(text, true);
  if (!address) return [notAnIp];
  const problems = parseIp(text) ? [] : ['must not have leading 0s'];
  if (isMapped(address)) problems.push('must not be an IPv4-mapped IPv6 address');
  return problems;
}

/** The problems of an address in a newer field: only the one canonical spelling passes. */
export function ipProblems(text: string): string[] {
  const problems = legacyIpProblems(text);
  if (problems.length) return problems;
  const canonical = printIp(parseIp(text)!);
  return canonical === text ? [] : [`must be in canonical form ("${canonical}")`];
}

export const ipFamily = (text: string): 'IPv4' | 'IPv6' => {
  const address = parseIp(text, true);
  return !address || address.kind() === 'ipv4' || isMapped(address) ? 'IPv4' : 'IPv6';
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
  if (!strict || isMapped(strict)) return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use "${canonical}"`];
  return strict.kind() === 'ipv6' && canonical !== text
    ? [`${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format ("${canonical}")`]
    : [];
}

const network = ([address, length]: Block): string => {
  const bytes = address.toByteArray().map((byte, index) => byte & (0xff << (8 - Math.min(8, Math.max(0, length - index * 8)))) & 0xff);
  return `${printIp(ipaddr.fromByteArray(bytes))}/${length}`;
};

/** The problems of a block in an older field. */
export function legacyCidrProblems(text: string): string[] {
  const block = parseCidr(text, true);
  if (!block) return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
  if (!parseCidr(text)) return ['must not have leading 0s in IP or prefix length'];
  if (isMapped(block[0])) return ['must not have an IPv4-mapped IPv6 address'];
  return network(block) === `${printIp(block[0])}/${block[1]}` ? [] : ['must not have bits set beyond the prefix length'];
}

/** The problems of a block in a newer field. */
export function cidrProblems(text: string): string[] {
  const problems = legacyCidrProblems(text);
  if (problems.length) return problems;
  const canonical = network(parseCidr(text)!);
  return canonical === text ? [] : [`must be in canonical form ("${canonical}")`];
}

/** Addresses that nobody else can reach are no endpoints. */
export function endpointIp(text: string): string[] {
  const address = parseIp(text, true);
  if (!address) return ['must be a valid IP address'];
  const plain = isMapped(address) ? (address as ipaddr.IPv6).toIPv4Address() : address;
  const within = (block: string): boolean => {
    const [network, length] = ipaddr.parseCIDR(block);
    return network.kind() === plain.kind() && plain.match(network, length);
  };
  if (within('0.0.0.0/32') || within('::/128')) return [`may not be unspecified (${text})`];
  if (within('127.0.0.0/8') || within('::1/128')) return ['may not be in the loopback range (127.0.0.0/8, ::1/128)'];
  if (within('169.254.0.0/16') || within('fe80::/10')) return ['may not be in the link-local range (169.254.0.0/16, fe80::/10)'];
  // Multicast of link-local scope; the words are older than the check.
  if (within('224.0.0.0/24') || within('ff02::/16')) return ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'];
  return [];
}
