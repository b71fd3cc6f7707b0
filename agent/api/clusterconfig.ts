/** The file of --clusterconfig: which server, and who we are there. A kubeconfig; certificates and tokens inline or beside it. */
import {readFile} from 'node:fs/promises';
import {dirname, resolve} from 'node:path';
import {parseYaml} from '../../shared/schema/yaml.ts';

export interface ServerAccess {
  url: URL;
  ca?: string;
  insecure: boolean;
  serverName?: string;
  cert?: string;
  key?: string;
  /** Read anew for each connection attempt where it is a file: such tokens rotate. */
  token?: () => Promise<string>;
}

interface Named<T> {
  name: string;
  value: T;
}

type Entry = Record<string, unknown>;

/** @throws Error that names the file and what is wrong in it */
export async function readClusterConfig(file: string): Promise<ServerAccess> {
  const fail = (why: string): never => {
    throw new Error(`invalid clusterconfig ${file}: ${why}`);
  };
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) =>
    fail(error.code === 'ENOENT' ? `stat ${file}: no such file or directory` : error.message),
  );
  let root: Entry;
  try {
    // YAML's reader is loaded only where it is needed.
    root = (bytes[0] === 0x7b ? JSON.parse(bytes.toString()) : parseYaml(bytes).value) as Entry;
  } catch (error) {
    return fail((error as Error).message);
  }
  const contexts = named(root?.contexts, 'context');
  const current = root?.['current-context'] || contexts[0]?.name;
  const context = contexts.find(({name}) => name === current)?.value ?? fail(`context ${JSON.stringify(current)} does not exist`);
  const find = (list: string, field: string, name: unknown): Entry =>
    named(root[list], field).find((entry) => entry.name === name)?.value ?? fail(`${field} ${JSON.stringify(name)} does not exist`);
  const cluster = find('clusters', 'cluster', context.cluster);
  const user = context.user ? find('users', 'user', context.user) : {};
  const pem = async (entry: Entry, field: string): Promise<string | undefined> => {
    const inline = entry[`${field}-data`];
    if (typeof inline === 'string') return Buffer.from(inline, 'base64').toString();
    const path = entry[field];
    return typeof path === 'string' && path
      ? readFile(resolve(dirname(file), path), 'utf8').catch((e: Error) => fail(e.message))
      : undefined;
  };
  if (typeof cluster.server !== 'string' || !URL.canParse(cluster.server)) return fail('its cluster names no server');
  const access: ServerAccess = {url: new URL(cluster.server), insecure: cluster['insecure-skip-tls-verify'] === true};
  const [ca, cert, key] = [
    await pem(cluster, 'certificate-authority'),
    await pem(user, 'client-certificate'),
    await pem(user, 'client-key'),
  ];
  if (ca) access.ca = ca;
  if (cert && key) Object.assign(access, {cert, key});
  if (typeof cluster['tls-server-name'] === 'string') access.serverName = cluster['tls-server-name'];
  const {token, tokenFile} = user;
  if (typeof tokenFile === 'string') {
    const path = resolve(dirname(file), tokenFile);
    access.token = async () => (await readFile(path, 'utf8')).trim();
  } else if (typeof token === 'string') access.token = async () => token;
  return access;
}

const named = (list: unknown, field: string): Named<Entry>[] =>
  Array.isArray(list) ? list.map((entry) => ({name: entry?.name, value: entry?.[field] ?? {}})) : [];
