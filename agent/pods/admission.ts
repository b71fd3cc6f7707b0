/** Whether the node can take a pod at all. A scheduler should have asked before; what it overlooked is Failed here, not left pending. Pure. */
import {compareQuantity, parseQuantity, subtractQuantity} from '../../shared/schema/quantity.ts';
import {matchesTerms} from '../../shared/selector/node-selector.ts';
import type {Pod, Resources} from './pod.ts';
import {podRequests, sum} from './resources.ts';

export interface NodeView {
  name: string;
  labels: Readonly<Record<string, string>>;
  allocatable: Resources;
  allowedUnsafeSysctls: readonly string[];
}

export interface Refusal {
  reason: string;
  message: string;
}

/** `others`: the pods that hold resources here. */
export function admit(pod: Pod, others: readonly Pod[], node: NodeView): Refusal | undefined {
  const sysctl = (pod.spec.securityContext?.sysctls ?? []).find(({name}) => !isAllowedSysctl(name, pod, node.allowedUnsafeSysctls));
  if (sysctl) return {reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(sysctl.name)} not allowlisted`};
  const short = shortage(pod, others, node.allocatable);
  if (short) return short;
  if (!matchesNode(pod, node))
    return {
      reason: 'NodeAffinity',
      message: "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    };
  if (portsTaken(pod, others))
    return {
      reason: 'NodePorts',
      message: "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    };
  return undefined;
}

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
];

function isAllowedSysctl(given: string, {spec}: Pod, unsafe: readonly string[]): boolean {
  const name = given.replaceAll('/', '.');
  // In a namespace of the host's the sysctl is the host's.
  if (name.startsWith('net.') && spec.hostNetwork) return false;
  if (/^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name) && spec.hostIPC) return false;
  return (
    safeSysctls.includes(name) ||
    unsafe.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  );
}

function shortage(pod: Pod, others: readonly Pod[], allocatable: Resources): Refusal | undefined {
  const used = sum(others.map((other) => podRequests(other)));
  used.pods = String(others.length);
  for (const [name, amount] of Object.entries({pods: '1', ...podRequests(pod)})) {
    const room = allocatable[name] ?? '0';
    if ((parseQuantity(amount)?.nanos ?? 0n) === 0n) continue;
    if (compareQuantity(amount, subtractQuantity(room, used[name] ?? '0')) <= 0) continue;
    const whole = (text: string) => String(inUnits(name, text));
    return {
      reason: `OutOf${name}`,
      message: `Pod was rejected: Node didn't have enough resource: ${name}, requested: ${whole(amount)}, used: ${whole(used[name] ?? '0')}, capacity: ${whole(room)}`,
    };
  }
  return undefined;
}

const inUnits = (name: string, text: string): bigint => (parseQuantity(text)?.nanos ?? 0n) / (name === 'cpu' ? 1_000_000n : 1_000_000_000n);

function matchesNode({spec}: Pod, node: NodeView): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (node.labels[key] !== value) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return !terms || matchesTerms(terms, node);
}

interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

const anywhere = '0.0.0.0';

const hostPorts = ({spec}: Pod): HostPort[] =>
  spec.containers.flatMap(({ports = []}) =>
    ports.flatMap(({hostPort, protocol = 'TCP', hostIP = ''}) => (hostPort ? [{port: hostPort, protocol, ip: hostIP || anywhere}] : [])),
  );

function portsTaken(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPorts);
  return wanted.some((one) =>
    taken.some(
      (other) =>
        one.port === other.port && one.protocol === other.protocol && (one.ip === other.ip || one.ip === anywhere || other.ip === anywhere),
    ),
  );
}
