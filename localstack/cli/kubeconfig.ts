/** `clusterless kubeconfig`: print it, or merge it into the user's own. The only place that touches a file that is not ours. */
import {copyFile, readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {delimiter, join, resolve} from 'node:path';
import {contextName, writePrivately} from '../kubeconfig.ts';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export interface KubeconfigFlags {
  data: string;
  /** Of a cluster on AWS instead. */
  stack?: string;
  region?: string;
  merge?: boolean;
  /** Default: of the stack, or `clusterless`. */
  name?: string;
  current: boolean;
}

export async function kubeconfig(flags: KubeconfigFlags): Promise<void> {
  const ours = flags.stack === undefined ? await readOurs(resolve(flags.data)) : await ofStack(flags.stack, flags.region);
  if (!flags.merge) {
    process.stdout.write(ours);
    return;
  }
  const target = targetFile(process.env['KUBECONFIG'], homedir());
  const theirs = await readFile(target, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const name = flags.name ?? flags.stack ?? contextName;
  const merged = await merge(theirs ?? '', ours, name, flags.current, target);
  let kept = '';
  if (theirs !== undefined) {
    const backup = `${target}.${new Date().toISOString().replace(/[:.]/g, '-')}.backup`;
    await copyFile(target, backup);
    kept = `, former one kept as ${backup}`;
  }
  await writePrivately(target, merged);
  process.stdout.write(`merged context ${name} into ${target}${kept}\n`);
}

async function ofStack(name: string, flag: string | undefined): Promise<string> {
  const [{describeStack, stackKubeconfig}, {regionOf}] = await Promise.all([import('./stack.ts'), import('./token.ts')]);
  return stackKubeconfig(await describeStack(name, regionOf(flag)), process.env['AWS_PROFILE']);
}

async function readOurs(data: string): Promise<string> {
  const running = await readServerFile(data);
  const file = running?.kubeconfig ?? join(data, 'kubeconfig');
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new Refusal(`no kubeconfig at ${file}: has a cluster been started with \`clusterless up\`?`);
  }
}

/** Where kubectl itself would write: the first file of KUBECONFIG, or the one in the home folder. */
export function targetFile(variable: string | undefined, home: string): string {
  const first = variable?.split(delimiter).find(Boolean);
  return first ? resolve(first) : join(home, '.kube', 'config');
}

interface Named {
  name: string;
}

/** Their text with our entries in it, comments and everything else kept. @throws Refusal when theirs is no kubeconfig */
export async function merge(theirs: string, ours: string, name: string, makeCurrent: boolean, file: string): Promise<string> {
  const {parse, parseDocument, isMap, isSeq} = await import('yaml');
  const source = parse(ours) as {clusters: {cluster: object}[]; users: {user: object}[]};
  const document = parseDocument(theirs.trim() === '' ? 'apiVersion: v1\nkind: Config\n' : theirs);
  if (document.errors.length > 0) throw new Refusal(`${file} is left as it is: ${document.errors[0]!.message.split('\n')[0]}`);
  if (!isMap(document.contents)) throw new Refusal(`${file} is left as it is: it is no kubeconfig`);

  const user = `${name}-admin`;
  const entries: Record<string, Named> = {
    clusters: {name, cluster: source.clusters[0]!.cluster} as Named,
    users: {name: user, user: source.users[0]!.user} as Named,
    contexts: {name, context: {cluster: name, user}} as Named,
  };
  for (const [list, entry] of Object.entries(entries)) {
    const known = document.get(list);
    // kubectl writes `clusters: null` into a file that it has emptied.
    if (known === undefined || known === null) document.set(list, document.createNode([entry]));
    else if (!isSeq(known)) throw new Refusal(`${file} is left as it is: ${list} is no list`);
    else {
      const at = known.items.findIndex((item) => isMap(item) && item.get('name') === entry.name);
      if (at < 0) known.add(document.createNode(entry));
      else known.items[at] = document.createNode(entry);
    }
  }
  if (makeCurrent || !document.get('current-context')) document.set('current-context', name);
  return document.toString({lineWidth: 0});
}
