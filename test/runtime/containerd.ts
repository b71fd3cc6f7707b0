/**
 * A containerd of a test's own: folder, socket, network and images are nobody else's, and nothing is left of it at the end. What a pod leaves
 * behind can be counted (see leftovers.ts). It may be killed and started again like one that crashes.
 */
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {existsSync, openSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {RemoteRuntime} from '../../agent/runtime/cri/remote.ts';
import type {Runtime} from '../../agent/runtime/runtime.ts';
import {imageArchive, images} from './images.ts';
import {endProcess, endShims, mountsBelow, removeCgroups, removeFolder} from './leftovers.ts';

const run = promisify(execFile);

interface Tools {
  containerd: string;
  ctr: string;
  ip: string;
  mount: string;
  busybox: string;
  /** The folder of the network plugins. */
  plugins: string;
}

const finder = new URL('../../scripts/runtime.mjs', import.meta.url);
const {findRuntime} = (await import(fileURLToPath(finder))) as {findRuntime(): {tools: Tools; lacks?: undefined} | {lacks: string}};

/** Why no runtime can be had here; undefined where one can. */
export const lackingRuntime: string | undefined = findRuntime().lacks;

export interface TestRuntime {
  /** `unix:///...` */
  endpoint: string;
  folder: string;
  bridge: string;
  /** For --cgroup-root: below it is nothing but this test's. */
  cgroupRoot: string;
  /** A client of its own, for what the test itself asks. */
  runtime: Runtime;
  /** SIGKILL to containerd; pods go on. */
  kill(): Promise<void>;
  /** After a kill, on what is there. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestRuntimeOptions {
  /** Where containerd keeps images and layers; default a folder of its own. */
  root?: string;
}

const prefix = 'clusterless-containerd-';
/** A slow machine, with other suites beside. */
const readyWithinMs = 60_000;

export async function startRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const found = findRuntime();
  if (found.lacks !== undefined) throw new Error(`no container runtime: ${found.lacks} is missing`);
  const {tools} = found;
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  const network = await freeNetwork();
  const socket = join(folder, 'containerd.sock');
  const cgroupRoot = `/${network.bridge}`;
  const root = options.root ?? join(folder, 'root');
  await mkdir(join(folder, 'cni'), {recursive: true});
  await mkdir(root, {recursive: true});
  await writeFile(join(folder, 'names'), `${network.bridge}\n`);
  await writeFile(join(folder, 'cni', '10-test.conflist'), JSON.stringify(networkConfig(network, folder)));
  await writeFile(join(folder, 'containerd.toml'), await runtimeConfig(tools, folder, root));
  const logFile = join(folder, 'containerd.log');

  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const output = openSync(logFile, 'a');
    child = spawn(tools.containerd, ['-c', join(folder, 'containerd.toml')], {
      stdio: ['ignore', output, output],
      env: {...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`},
    });
    for (const end = Date.now() + readyWithinMs; !(await answers(socket)); await pause(50)) {
      const over = child.exitCode !== null || child.signalCode !== null;
      if (!over && Date.now() < end) continue;
      const words = (await readFile(logFile, 'utf8')).trim().split('\n').slice(-5).join('\n');
      throw new Error(`containerd ${over ? 'ended' : 'does not answer'}:\n${words}`);
    }
  };
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  // Whoever ends without stopping leaves nothing running at least.
  const onExit = () => void child?.kill('SIGKILL');
  process.on('exit', onExit);

  let runtime: Runtime | undefined;
  const stop = async (): Promise<void> => {
    process.off('exit', onExit);
    if (runtime) await endPods(runtime).catch(() => {});
    runtime?.close();
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const late = setTimeout(() => child!.kill('SIGKILL'), 10_000);
      await once(child, 'exit');
      clearTimeout(late);
    }
    await clear(folder, network.bridge);
  };
  try {
    await start();
    runtime = new RemoteRuntime({endpoint: `unix://${socket}`, requestTimeoutMs: 60_000});
    await importImages(tools, socket, folder, runtime);
  } catch (error) {
    await stop();
    throw error;
  }
  return {endpoint: `unix://${socket}`, folder, bridge: network.bridge, cgroupRoot, runtime, kill, start, stop};
}

async function answers(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return false;
  const client = new RemoteRuntime({endpoint: `unix://${socket}`, requestTimeoutMs: 2000});
  try {
    const {conditions} = await client.status();
    return conditions.length > 0 && conditions.every(({status}) => status);
  } catch {
    return false;
  } finally {
    client.close();
  }
}

async function importImages(tools: Tools, socket: string, folder: string, runtime: Runtime): Promise<void> {
  const archive = join(folder, 'images.tar');
  await writeFile(archive, imageArchive(tools.busybox));
  await run(tools.ctr, ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
  await rm(archive);
  // CRI learns of them by an event.
  for (const name of Object.values(images)) {
    for (const end = Date.now() + readyWithinMs; !(await runtime.image(name)); await pause(20))
      if (Date.now() > end) throw new Error(`the runtime never saw ${name}`);
  }
}

async function endPods(runtime: Runtime): Promise<void> {
  // Without a grace of their own: a sandbox that is stopped waits for containers that ignore TERM.
  await Promise.all((await runtime.containers()).map(({id}) => runtime.stopContainer(id, 0)));
  for (const {id} of await runtime.sandboxes()) {
    await runtime.stopSandbox(id);
    await runtime.removeSandbox(id);
  }
}

interface Network {
  bridge: string;
  subnet: string;
}

/** A /22 of the private range that no interface of this machine has, by the name of its bridge. */
async function freeNetwork(): Promise<Network> {
  const taken = await readdir('/sys/class/net');
  for (;;) {
    const [second, third] = [randomInt(160, 224), 4 * randomInt(64)];
    const bridge = `cltest${second}x${third}`;
    if (!taken.includes(bridge)) return {bridge, subnet: `10.${second}.${third}.0/22`};
  }
}

const networkConfig = ({bridge, subnet}: Network, folder: string): object => ({
  cniVersion: '0.4.0',
  name: bridge,
  plugins: [
    {
      ...{type: 'bridge', bridge, isGateway: true, hairpinMode: true},
      ipam: {type: 'host-local', dataDir: join(folder, 'addresses'), ranges: [[{subnet}]], routes: [{dst: '0.0.0.0/0'}]},
    },
  ],
});

/** Bit of CAP_SYS_RESOURCE, without which no process may have a negative oom_score_adj: sandboxes would not start. */
const sysResource = 24n;

async function runtimeConfig(tools: Tools, folder: string, root: string): Promise<string> {
  const effective = BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(await readFile('/proc/self/status', 'utf8'))![1]}`);
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${JSON.stringify(root)}
state = ${JSON.stringify(join(folder, 'state'))}
[grpc]
  address = ${JSON.stringify(join(folder, 'containerd.sock'))}
[plugins."io.containerd.internal.v1.opt"]
  path = ${JSON.stringify(join(folder, 'opt'))}
[plugins."io.containerd.nri.v1.nri"]
  disable = true
[${cri}]
  restrict_oom_score_adj = ${((effective >> sysResource) & 1n) === 0n}
  sandbox_image = ${JSON.stringify(images.pause)}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  netns_mounts_under_state_dir = true
[${cri}.cni]
  bin_dir = ${JSON.stringify(tools.plugins)}
  conf_dir = ${JSON.stringify(join(folder, 'cni'))}
[${cri}.containerd]
  snapshotter = "${(await canOverlay(tools, root)) ? 'overlayfs' : 'native'}"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
`;
}

/** Not on every file system: a machine that is a container itself may have an overlay for its root. */
async function canOverlay({mount}: Tools, root: string): Promise<boolean> {
  const trial = await mkdtemp(join(root, 'overlay-'));
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(trial, name));
  try {
    for (const path of [lower!, upper!, work!, merged!]) await mkdir(path);
    await run(mount, ['-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'overlay', merged!]);
    await run('umount', [merged!]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(trial, {recursive: true, force: true});
  }
}

async function clear(folder: string, bridge: string): Promise<void> {
  await endShims(join(folder, 'containerd.sock'));
  for (const point of await mountsBelow(folder)) await run('umount', ['-l', point]).catch(() => {});
  await run('ip', ['link', 'delete', bridge]).catch((error) => {
    if (existsSync(`/sys/class/net/${bridge}`)) throw error;
  });
  await removeCgroups(`/${bridge}`);
  await removeFolder(folder);
}

/** Of a run that was killed: its folder names the process that made it. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = name.startsWith(prefix) && /^\d+/.exec(name.slice(prefix.length))?.[0];
    if (!owner || existsSync(`/proc/${owner}`)) continue;
    const folder = join(tmpdir(), name);
    const bridge = (await readFile(join(folder, 'names'), 'utf8').catch(() => '')).trim();
    // Another run may be clearing it up at this moment.
    if (!bridge) continue;
    await endProcess(`-c\0${join(folder, 'containerd.toml')}`);
    await clear(folder, bridge);
  }
}
