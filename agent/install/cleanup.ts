/**
 * `nodeagent cleanup`: what an agent that runs no more has left on its machine goes: its pods, what it mounted, their cgroups and logs, its
 * root directory. Only what an agent with this root directory made; with --all every nodeagent's pods in the runtime.
 */
import {readdir, readFile, rm, rmdir} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {openCgroups} from '../cgroups/cgroups.ts';
import type {Settings} from '../cli/settings.ts';
import {label, logDirectory, managedLabels, readNotes} from '../pods/names.ts';
import type {Pod} from '../pods/pod.ts';
import {RemoteRuntime} from '../runtime/cri/remote.ts';
import type {Container, Runtime, Sandbox} from '../runtime/runtime.ts';
import {type Mounter, systemMounter} from '../volumes/mounts.ts';
import {CommandError, settingsOf, takeOwn} from './arguments.ts';
import {isOurs} from './check.ts';

export interface CleanupOptions {
  settings: Settings;
  runtime: Runtime;
  /** Pods of other root directories as well. */
  all: boolean;
  /** At most this long for a container to end by itself. */
  graceSeconds: number;
  mounter?: Mounter;
  logRoot?: string;
  cgroupMount?: string;
  say(line: string): void;
}

const defaultGraceSeconds = 10;
const callTimeoutMs = 30_000;
/** The agent's first file in its root directory: where it is missing, the folder is somebody else's. */
const mark = 'format-version';

export async function cleanup(argv: readonly string[]): Promise<number> {
  const {own, rest} = takeOwn(argv, ['all', 'grace-seconds']);
  const settings = await settingsOf(rest);
  const graceSeconds = Number(own.get('grace-seconds') ?? defaultGraceSeconds);
  if (!(graceSeconds >= 0)) throw new CommandError(`--grace-seconds=${own.get('grace-seconds')} is no number of seconds`);
  const runtime = new RemoteRuntime({endpoint: settings.text('container-runtime-endpoint'), requestTimeoutMs: callTimeoutMs});
  try {
    const problems = await cleanUp({
      settings,
      runtime,
      all: own.has('all'),
      graceSeconds,
      say: (line) => process.stdout.write(`${line}\n`),
    });
    for (const problem of problems) process.stderr.write(`nodeagent cleanup: ${problem}\n`);
    return problems.length > 0 ? 1 : 0;
  } finally {
    runtime.close();
  }
}

/** Goes on after a failure, so that as little as possible is left; answers with what could not be done. */
export async function cleanUp(options: CleanupOptions): Promise<string[]> {
  const {settings, mounter = systemMounter, say} = options;
  const problems: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: Error) => void problems.push(`${what}: ${error.message}`));
  };
  const rootDir = resolve(settings.text('root-dir'));
  await attempt('pods', () => removePods(options, attempt));
  for (const point of await mounter.below(rootDir)) {
    await attempt(point, () => mounter.unmount(point));
    say(`unmounted ${point}`);
  }
  await attempt('cgroups', () => removeCgroups(options));
  // By its folders pods are known for ours: as long as some are left, so are they.
  if (problems.length === 0) await attempt(rootDir, () => removeRoot(rootDir, mounter));
  return problems;
}

async function removePods(
  {settings, runtime, all, graceSeconds, logRoot = '/var/log/pods', say}: CleanupOptions,
  attempt: (what: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(managedLabels), runtime.containers(managedLabels)]);
  const rootDir = settings.text('root-dir');
  const ours = await Promise.all(sandboxes.map(async ({labels}) => all || isOurs(rootDir, labels[label.podUid] ?? '')));
  const remove = async (sandbox: Sandbox): Promise<void> => {
    const {name, namespace, uid} = sandbox.metadata;
    const within = containers.filter(({podSandboxId}) => podSandboxId === sandbox.id);
    await Promise.all(within.map((container) => runtime.stopContainer(container.id, Math.min(graceSeconds, graceOf(container)))));
    await runtime.stopSandbox(sandbox.id);
    for (const {id} of within) await runtime.removeContainer(id);
    await runtime.removeSandbox(sandbox.id);
    await rm(logDirectory(logRoot, {name, namespace, uid} as Pod['metadata']), {recursive: true, force: true});
    say(`removed pod ${namespace}/${name}`);
  };
  await Promise.all(
    sandboxes
      .filter((_sandbox, index) => ours[index])
      .map((sandbox) => attempt(`pod ${sandbox.metadata.namespace}/${sandbox.metadata.name}`, () => remove(sandbox))),
  );
}

const graceOf = ({annotations}: Container): number => readNotes(annotations).graceSeconds;

/** Those of pods; then the ones above them, where they are empty: another agent may share them. */
async function removeCgroups({settings, cgroupMount = '/sys/fs/cgroup'}: CleanupOptions): Promise<void> {
  const rootDir = settings.text('root-dir');
  const root = settings.text('cgroup-root');
  const cgroups = await openCgroups(
    {
      mount: cgroupMount,
      root,
      driver: settings.text('cgroup-driver') as 'cgroupfs',
      perQos: settings.bool('cgroups-per-qos'),
      cfsQuota: false,
      cfsPeriodMicros: 0,
    },
    () => {},
  );
  for (const uid of await cgroups.present()) if (await isOurs(rootDir, uid)) await cgroups.remove(uid, undefined);
  const bases = [cgroupMount, ...(await readdir(cgroupMount)).map((name) => join(cgroupMount, name))];
  const above = ['kubepods/burstable', 'kubepods/besteffort', 'kubepods', '']
    .map((path) => join(root, path))
    .filter((path) => !/^\.?\/?$/.test(path));
  for (const base of bases) for (const path of above) await rmdir(join(base, path)).catch(() => {});
}

async function removeRoot(rootDir: string, mounter: Mounter): Promise<void> {
  const isAgents = await readFile(join(rootDir, mark), 'utf8').catch(() => undefined);
  if (isAgents === undefined) return;
  // Through a mount that is left, what is not ours would be removed.
  const left = await mounter.below(rootDir);
  if (left.length > 0) throw new Error(`left as it is, since something is mounted at ${left.join(', ')}`);
  await rm(rootDir, {recursive: true, force: true});
}
