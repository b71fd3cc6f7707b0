/**
 * A network for pods on a machine that has none: a bridge, for the runtime to make with the usual CNI plugins. It is written only when it is
 * asked for (--node-cni), where the runtime looks for it, and removed with the node that it was written for.
 */
import {execFile} from 'node:child_process';
import {mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {Refusal} from '../cli/fail.ts';

/** Where containerd and CRI-O look by default. */
const confFolder = '/etc/cni/net.d';
export const confFile = '10-clusterless.conflist';
const pluginFolders = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'];
const needed = ['bridge', 'host-local', 'loopback', 'portmap'];
const bridge = 'clusterless0';
/** Few networks use it, and none of the usual cluster networks. */
const podRange = '10.85.0.0/16';

const conflist = {
  cniVersion: '0.4.0',
  name: 'clusterless',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {type: 'host-local', ranges: [[{subnet: podRange}]], routes: [{dst: '0.0.0.0/0'}]},
    },
    {type: 'portmap', capabilities: {portMappings: true}},
  ],
};

export interface NetworkPlaces {
  conf?: string;
  plugins?: readonly string[];
}

/** The file that was written. @throws Refusal where plugins are missing, or another network is configured that does not work */
export async function writeNetwork({conf = confFolder, plugins = pluginFolders}: NetworkPlaces = {}): Promise<string> {
  const others = (await readdir(conf).catch(() => [])).filter((name) => /\.(conf|conflist|json)$/.test(name) && name !== confFile);
  if (others.length > 0)
    throw new Refusal(`--node-cni: ${conf} has a network already (${others.join(', ')}), but the runtime does not find it ready`);
  const missing = (await Promise.all(needed.map(async (name) => ((await isAnywhere(name, plugins)) ? [] : [name])))).flat();
  if (missing.length > 0)
    throw new Refusal(
      `--node-cni: no CNI plugin ${missing.join(', ')} in ${plugins.join(', ')}; on Debian: apt-get install containernetworking-plugins iptables`,
    );
  const file = join(conf, confFile);
  await mkdir(conf, {recursive: true});
  await writeFile(file, `${JSON.stringify(conflist, undefined, 2)}\n`);
  return file;
}

/** What writeNetwork wrote, and the bridge that came of it; nothing if there is none or somebody has changed it. */
export async function removeNetwork({conf = confFolder}: NetworkPlaces = {}): Promise<boolean> {
  const file = join(conf, confFile);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || text.trim() !== JSON.stringify(conflist, undefined, 2)) return false;
  await rm(file, {force: true});
  await promisify(execFile)('ip', ['link', 'delete', bridge]).catch(() => {});
  return true;
}

const isAnywhere = async (name: string, folders: readonly string[]): Promise<boolean> =>
  (await Promise.all(folders.map((folder) => stat(join(folder, name)).catch(() => undefined)))).some(Boolean);
