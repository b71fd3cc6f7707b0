/** The names that a pod's programs look things up in: its host name, /etc/hosts, and what becomes /etc/resolv.conf. Pure, but for its input. */
import type {Pod} from './pod.ts';

const longestHostname = 63;
const maxSearches = 32;
const maxSearchChars = 2048;
const maxServers = 3;

/** At most 63 characters, and no dot or dash at the end after the cut. */
export const hostnameOf = ({metadata, spec}: Pod): string =>
  (spec.hostname || metadata.name).slice(0, longestHostname).replace(/[-.]+$/, '');

export const fullHostname = (pod: Pod, clusterDomain: string): string | undefined =>
  pod.spec.subdomain ? `${hostnameOf(pod)}.${pod.spec.subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : undefined;

export function hostsFile(pod: Pod, ips: readonly string[], clusterDomain: string): string {
  const name = hostnameOf(pod);
  const full = clusterDomain ? fullHostname(pod, clusterDomain) : undefined;
  const lines = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...ips.map((ip) => (full ? `${ip}\t${full}\t${name}` : `${ip}\t${name}`)),
  ];
  return `${lines.join('\n')}\n${aliases(pod)}`;
}

/** With the host's network the pod sees the host's file, and its own aliases. */
export const hostsFileOfHost = (pod: Pod, host: string): string =>
  `# Kubernetes-managed hosts file (host network).\n${host}${aliases(pod)}`;

function aliases({spec}: Pod): string {
  if (!spec.hostAliases?.length) return '';
  const lines = spec.hostAliases.map(({ip, hostnames = []}) => [ip, ...hostnames].join('\t'));
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`;
}

export interface DnsSettings {
  clusterDns: readonly string[];
  clusterDomain: string;
  /** The text of --resolv-conf. */
  host: string;
}

export interface DnsConfig {
  servers: string[];
  searches: string[];
  options: string[];
}

export interface DnsOutcome extends DnsConfig {
  /** [reason, message] of warnings worth an event. */
  warnings: [reason: string, message: string][];
}

export function dnsConfigOf(pod: Pod, settings: DnsSettings): DnsOutcome {
  const warnings: [string, string][] = [];
  const config = baseConfig(pod, settings, warnings);
  const {dnsConfig} = pod.spec;
  if (dnsConfig) {
    config.servers = unique([...config.servers, ...(dnsConfig.nameservers ?? [])]);
    config.searches = unique([...config.searches, ...(dnsConfig.searches ?? [])]);
    config.options = mergeOptions(config.options, dnsConfig.options ?? []);
  }
  return {...limited(config, warnings), warnings};
}

function baseConfig({metadata, spec}: Pod, {clusterDns, clusterDomain, host}: DnsSettings, warnings: [string, string][]): DnsConfig {
  const policy = spec.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return {servers: [], searches: [], options: []};
  const ofHost = readResolvConf(host);
  const first = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !spec.hostNetwork);
  if (!first) return ofHost;
  if (clusterDns.length === 0) {
    warnings.push([
      'MissingClusterDNS',
      `pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})". nodeagent does not have ClusterDNS IP configured and cannot create Pod using "${policy}" policy. Falling back to "Default" policy.`,
    ]);
    return ofHost;
  }
  const own = clusterDomain ? [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain] : [];
  return {servers: [...clusterDns], searches: unique([...own, ...ofHost.searches]), options: ['ndots:5']};
}

/** Of several lines the last search counts; options add up. */
export function readResolvConf(text: string): DnsConfig {
  const config: DnsConfig = {servers: [], searches: [], options: []};
  for (const line of text.split('\n')) {
    if (/^\s*[#;]/.test(line)) continue;
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === 'nameserver' && rest[0]) config.servers.push(rest[0]);
    else if (word === 'search') config.searches = rest.map((name) => (name === '.' ? name : name.replace(/\.$/, '')));
    else if (word === 'options') config.options.push(...rest);
  }
  return config;
}

function mergeOptions(present: readonly string[], added: readonly {name: string; value?: string}[]): string[] {
  const merged = new Map(present.map((option) => [option.split(':')[0]!, option]));
  for (const {name, value} of added) merged.set(name, value ? `${name}:${value}` : name);
  return [...merged.values()];
}

function limited(config: DnsConfig, warnings: [string, string][]): DnsConfig {
  let searches = config.searches.slice(0, maxSearches);
  while (searches.join(' ').length > maxSearchChars) searches = searches.slice(0, -1);
  if (searches.length < config.searches.length)
    warnings.push([
      'DNSConfigForming',
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
    ]);
  const servers = config.servers.slice(0, maxServers);
  if (servers.length < config.servers.length)
    warnings.push([
      'DNSConfigForming',
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(' ')}`,
    ]);
  return {servers, searches, options: config.options};
}

const unique = (list: readonly string[]): string[] => [...new Set(list)];
