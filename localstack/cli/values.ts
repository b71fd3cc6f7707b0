/** Values of flags, in the formats that kube-apiserver's flags have, parsed once. Each throws an error that says what it wants. */
import {InvalidArgumentError} from 'commander';
import ipaddr from 'ipaddr.js';
import {parseListen} from '../listen.ts';

const unitsMs: Record<string, number> = {ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000};

/** Go's durations: `1h30m`, `300ms`, `0`. Milliseconds. */
export function duration(text: string): number {
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new InvalidArgumentError(
      /^\d+$/.test(text) ? `Missing unit in duration, for example ${text}s.` : 'Not a duration such as 30s, 5m or 1h30m.',
    );
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitsMs[unit!]!, 0);
}

/** A duration that means nothing when it is zero. */
export function positiveDuration(text: string): number {
  const time = duration(text);
  if (time < 1) throw new InvalidArgumentError('It must be longer than 0.');
  return time;
}

/** `30000-32767`, `30000+100`, `30000`. As the reference prints it: first-last. */
export function portRange(text: string): string {
  const match = /^(\d+)(?:([-+])(\d+))?$/.exec(text);
  if (!match) throw new InvalidArgumentError('Not a port range such as 30000-32767.');
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : match[2] === '+' ? first + Number(match[3]) : Number(match[3]);
  if (first > last) throw new InvalidArgumentError('The end port must be larger than the start port.');
  if (first < 1 || last > 65_535) throw new InvalidArgumentError('Ports are between 1 and 65535.');
  return `${first}-${last}`;
}

/** One CIDR, or two of different families for dual stack. Host bits are dropped, as Go does. */
export function cidrs(text: string): string {
  const networks = text.split(',').map((cidr) => {
    const [address = '', bits] = cidr.split('/');
    if (ipaddr.IPv4.isValidFourPartDecimal(address) && ipaddr.IPv4.isValidCIDR(cidr)) {
      return {family: 4, cidr: `${ipaddr.IPv4.networkAddressFromCIDR(cidr)}/${bits}`};
    }
    if (ipaddr.IPv6.isValidCIDR(cidr)) return {family: 6, cidr: `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toRFC5952String()}/${bits}`};
    throw new InvalidArgumentError('Not a CIDR such as 10.0.0.0/24.');
  });
  if (networks.length > 2 || (networks.length === 2 && networks[0]!.family === networks[1]!.family)) {
    throw new InvalidArgumentError('At most one IPv4 and one IPv6 range.');
  }
  return networks.map(({cidr}) => cidr).join(',');
}

export function listenAddress(text: string): string {
  try {
    parseListen(text);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`);
  }
  return text;
}

/** klog's verbosity. */
export function verbosity(text: string): number {
  const level = text.replace(/^=/, '');
  if (!/^\d{1,2}$/.test(level)) throw new InvalidArgumentError('Not a number.');
  return Number(level);
}

/** Flags that may be repeated, and hold commas. */
export const collect = (text: string, before: string[]): string[] => [...before, ...text.split(',').filter(Boolean)];

/** Flags that may be repeated, and hold anything. */
export const append = (text: string, before: string[]): string[] => [...before, text];

/** What a node may be named: a DNS subdomain. */
export function nodeName(text: string): string {
  if (text.length > 253 || !/^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/.test(text))
    throw new InvalidArgumentError('Not a name such as node-1: lower case letters, digits, "-" and ".".');
  return text;
}

/** A name or address that a certificate can hold, a leading wildcard included. */
export function serverNames(text: string, before: string[]): string[] {
  const names = collect(text, before);
  const bad = names.find((name) => !ipaddr.isValid(name) && !/^(?:\*\.)?[a-z\d](?:[-a-z\d.]*[a-z\d])?$/i.test(name));
  if (bad !== undefined) throw new InvalidArgumentError(`"${bad}" is neither a DNS name nor an address.`);
  return names;
}

/** Any word, or a URL if there is a colon in it. */
export function issuer(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  if (text.includes(':') && !URL.canParse(text)) throw new InvalidArgumentError("It has a ':' but is no valid URL.");
  return text;
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('Not a URL such as http://127.0.0.1:8000.');
  return text;
}

/** What DynamoDB lets a table be named, with room for our own endings. */
export function tablePrefix(text: string): string {
  if (!/^[\w.-]{1,200}$/.test(text)) throw new InvalidArgumentError('Letters, digits, "_", "-" and ".", at most 200.');
  return text;
}

/** The life-cycle table is not there yet: only the release that the server behaves as anyway. */
export function emulatedVersion(text: string): string {
  const [component, release] = text.includes('=') ? text.split('=') : ['kube', text];
  if (component !== 'kube') throw new InvalidArgumentError(`Component "${component}" is not registered.`);
  if (!/^\d+\.\d+$/.test(release ?? '')) throw new InvalidArgumentError('Only major.minor, for example 1.36.');
  if (release !== '1.36') throw new InvalidArgumentError('This release emulates 1.36 only.');
  return release;
}

export function featureGates(text: string): string {
  for (const part of text.split(',').filter(Boolean)) {
    if (!/^(?:\w+:)?\w+=(?:true|false)$/i.test(part)) throw new InvalidArgumentError(`"${part}" is not of the form key=true|false.`);
    throw new InvalidArgumentError(`Feature gate "${part.split('=')[0]}" cannot be changed in this release: every gate has its default.`);
  }
  return text;
}

/** What says nothing new about what is served is let through. */
const defaultApis = new Set(['api/ga=true', 'api/beta=false', 'api/alpha=false', 'v1=true', 'api/legacy=false']);

export function runtimeConfig(text: string): string {
  for (const part of text.split(',').filter(Boolean)) {
    const setting = part.includes('=') ? part : `${part}=true`;
    if (!defaultApis.has(setting))
      throw new InvalidArgumentError(`"${part}" is not supported in this release: the APIs of 1.36 that are on by default are served.`);
  }
  return text;
}

export function previousMinor(text: string): string {
  if (text !== '1.35')
    throw new InvalidArgumentError("It must be omitted or have the value '1.35': only the previous minor version is allowed.");
  return text;
}
