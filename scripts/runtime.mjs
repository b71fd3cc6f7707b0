/** The container runtime of tests: what it is made of on this machine, and what is lacking. Debian's packages hold all of it (test-setup.mjs). */
import {spawnSync} from 'node:child_process';
import {accessSync, constants, existsSync, readFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin'];
const plugins = ['bridge', 'host-local', 'loopback'];
/** To mount, and to make networks. */
const capabilities = {CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n};

export const packages = ['containerd', 'runc', 'containernetworking-plugins', 'iptables', 'iproute2', 'busybox-static'];

/** {tools} with the path of each, or {lacks} with the first thing that is missing. */
export function findRuntime() {
  if (process.platform !== 'linux') return {lacks: 'Linux'};
  if (process.getuid() !== 0) return {lacks: 'root'};
  const effective = BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]}`);
  for (const [name, bit] of Object.entries(capabilities)) if (((effective >> bit) & 1n) === 0n) return {lacks: name};
  const tools = {};
  for (const name of ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'ip', 'mount']) {
    tools[name] = findProgram(name);
    if (!tools[name]) return {lacks: name};
  }
  if (process.env.TEST_RUNTIME) tools.containerd = process.env.TEST_RUNTIME;
  tools.plugins = pluginFolders.find((folder) => plugins.every((name) => existsSync(join(folder, name))));
  if (!tools.plugins) return {lacks: 'the network plugins'};
  tools.busybox = folders.map((folder) => join(folder, 'busybox')).find(isStaticBusybox);
  if (!tools.busybox) return {lacks: 'a static busybox with httpd'};
  if (!['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].some(isWritable)) return {lacks: 'cgroups that can be written'};
  return {tools};
}

export function findProgram(name) {
  return folders.map((folder) => join(folder, name)).find((path) => isRunnable(path));
}

const isRunnable = (path) => may(path, constants.X_OK);
const isWritable = (path) => may(path, constants.W_OK);

function may(path, mode) {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** An image holds nothing else: what needs libraries would not start in it. */
function isStaticBusybox(path) {
  if (!isRunnable(path) || readFileSync(path).includes('/lib64/ld-') || readFileSync(path).includes('/lib/ld-')) return false;
  return /^httpd$/m.test(spawnSync(path, ['--list'], {encoding: 'utf8'}).stdout ?? '');
}
