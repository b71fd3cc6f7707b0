/** Everything that is wrong with the settings, at once: a line each, with the flag's name. Nothing has been touched yet. */
import {isIP} from 'node:net';
import {parseQuantity, quantityFormat} from '../../shared/schema/quantity.ts';
import {unknownSuites} from './cipher-suites.ts';
import {featureGates, flags} from './flags.ts';
import type {Settings} from './settings.ts';

const ports = ['port', 'read-only-port', 'healthz-port'] as const;
const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
  'allocatableMemory.available',
];
const reservable: Readonly<Record<string, readonly string[]>> = {
  'cluster-reserved': ['cpu', 'memory', 'ephemeral-storage', 'pid'],
  'system-reserved': ['cpu', 'memory', 'ephemeral-storage', 'pid'],
};
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const reservedDomain = /(^|\.)(kubernetes\.io|k8s\.io)$/;
const allowedLabels = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);

export function problemsOf(settings: Settings): string[] {
  const problems: string[] = [];
  const say = (text: string) => problems.push(text);
  for (const flag of flags) {
    if (flag.aliasOf || flag.name.startsWith('<')) continue;
    const {name, values, range, min} = flag;
    if (values && typeof flag.default === 'string' && !values.includes(settings.text(name)))
      say(
        `invalid configuration: option ${JSON.stringify(settings.text(name))} specified for --${name}. Valid options are ${values.map((value) => JSON.stringify(value)).join(', ')}`,
      );
    if (range && outside(settings.number(name), range))
      say(`invalid configuration: --${name} ${settings.number(name)} must be between ${range[0]} and ${range[1]}, inclusive`);
    if (min !== undefined && settings.number(name) < min)
      say(`invalid configuration: invalid --${name} ${settings.number(name)}, must be > ${min - 1}`);
  }
  for (const name of ports) {
    const port = settings.number(name);
    const least = name === 'port' ? 1 : 0;
    if (outside(port, [least, 65_535]))
      say(`invalid configuration: port (--${name}) ${port} must be between ${least} and 65535, inclusive`);
  }
  if (settings.number('image-gc-low-threshold') >= settings.number('image-gc-high-threshold'))
    say(
      `invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) ${settings.number('image-gc-low-threshold')} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${settings.number('image-gc-high-threshold')}`,
    );
  for (const name of ['address', 'healthz-bind-address'] as const)
    if (isIP(settings.text(name)) === 0)
      say(`invalid configuration: --${name} ${JSON.stringify(settings.text(name))} is not an IP address`);
  for (const address of settings.list('cluster-dns'))
    if (isIP(address) === 0) say(`invalid configuration: --cluster-dns ${JSON.stringify(address)} is not an IP address`);
  for (const taint of settings.list('register-with-taints')) {
    const [, effect] = /:([^:]+)$/.exec(taint) ?? [];
    if (!effect || !effects.includes(effect)) say(`invalid taint effect: ${effect ?? taint}, unsupported taint effect`);
  }
  for (const header of settings.list('manifest-url-header'))
    if (!header.includes(':')) say(`invalid --manifest-url-header ${JSON.stringify(header)}: missing colon, expect name:value`);
  for (const [name, known] of Object.entries(reservable)) {
    for (const [resource, amount] of settings.map(name)) {
      if (!known.includes(resource)) say(`cannot reserve ${JSON.stringify(resource)} resource (--${name})`);
      else if (!parseQuantity(amount)) say(`--${name} ${resource}: ${quantityFormat}`);
    }
  }
  for (const name of ['eviction-hard', 'eviction-soft'] as const)
    for (const signal of settings.map(name).keys()) if (!signals.includes(signal)) say(`unsupported eviction signal ${signal} (--${name})`);
  for (const signal of settings.map('eviction-soft').keys())
    if (!settings.map('eviction-soft-grace-period').has(signal))
      say(`grace period must be specified for the soft eviction threshold ${signal}`);
  const unknown = [...settings.map('node-labels').keys()].filter((key) => isReserved(key));
  if (unknown.length > 0) say(`unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${unknown.join(' ')}]`);
  if (settings.bool('exit-on-lock-contention') && !settings.text('lock-file'))
    say('cannot exit on lock file contention: no lock file specified');
  if (settings.text('dynamic-config-dir'))
    say('the DynamicKubeletConfig feature gate must be enabled in order to use the --dynamic-config-dir flag');
  if (settings.bool('runonce') && settings.bool('enable-server'))
    say('--runonce and --enable-server exclude each other: add --enable-server=false');
  const provider = settings.text('cloud-provider');
  if (!['', 'aws', 'external'].includes(provider))
    say(
      `unknown cloud provider ${JSON.stringify(provider)} (--cloud-provider): there is "aws", and "external" for those that come by themselves`,
    );
  if (!settings.bool('cgroups-per-qos') && settings.list('enforce-node-allocatable').some((item) => item !== 'none' && item !== ''))
    say(
      'invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) is not supported unless cgroupsPerQOS (--cgroups-per-qos) is set to true',
    );
  if (!parseQuantity(settings.text('container-log-max-size'))) say(`--container-log-max-size: ${quantityFormat}`);
  if (settings.text('tls-min-version') && !/^VersionTLS1[0-3]$/.test(settings.text('tls-min-version')))
    say(`unknown tls version ${JSON.stringify(settings.text('tls-min-version'))}`);
  for (const suite of unknownSuites(settings.list('tls-cipher-suites')))
    say(`Cipher suite ${suite} not supported or doesn't exist (--tls-cipher-suites)`);
  if (settings.number('max-open-files') < 0)
    say(`invalid configuration: --max-open-files ${settings.number('max-open-files')} must not be a negative number`);
  if (settings.duration('sync-frequency') < 0) say('invalid configuration: --sync-frequency must not be negative');
  for (const gate of settings.map('feature-gates').keys())
    if (!featureGates.has(gate)) say(`unrecognized feature gate: ${gate} (--feature-gates)`);
  return problems;
}

const outside = (value: number, [least, most]: readonly [number, number]): boolean => value < least || value > most;

function isReserved(key: string): boolean {
  const [domain, name] = key.includes('/') ? key.split('/') : ['', key];
  if (!name || !domain || !reservedDomain.test(domain)) return false;
  return !allowedLabels.has(key) && !/(^|\.)(node|kubelet|nodeagent)\.(kubernetes|k8s)\.io$/.test(domain);
}
