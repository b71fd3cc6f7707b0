import {execFileSync} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {parseArguments} from '../cli/flags.ts';
import {Settings} from '../cli/settings.ts';
import {label, podLabels} from '../pods/names.ts';
import type {Pod} from '../pods/pod.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {RuntimeError} from '../runtime/runtime.ts';
import type {Mounter} from '../volumes/mounts.ts';
import {settingsOf, takeOwn} from './arguments.ts';
import {cleanUp} from './cleanup.ts';
import {commands} from './commands.ts';
import {flagsOfUnit, unitText} from './unit.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'install-'));
});
afterEach(() => rm(folder, {recursive: true, force: true}));

const hasVerify = (() => {
  try {
    execFileSync('systemd-analyze', ['--version'], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
})();

describe('the unit', () => {
  const flags = ['--clusterconfig=/etc/nodeagent/kubeconfig', '--node-labels=a=b', '--hostname-override=50% of "$HOME"'];
  const text = unitText({node: '/usr/bin/node', script: '/opt/node agent/nodeagent.js', flags});

  test('runs the program with its flags, each as one word', () => {
    expect(text).toContain(
      'ExecStart=/usr/bin/node "/opt/node agent/nodeagent.js" --clusterconfig=/etc/nodeagent/kubeconfig --node-labels=a=b "--hostname-override=50%% of \\"$$HOME\\""\n',
    );
  });

  test('knows its flags again, for the one that removes it', () => {
    expect(flagsOfUnit(text)).toEqual(flags);
    expect(flagsOfUnit('[Unit]\n')).toEqual([]);
  });

  test.skipIf(!hasVerify)(`satisfies systemd-analyze verify${hasVerify ? '' : ' (not installed)'}`, async () => {
    const file = join(folder, 'nodeagent.service');
    await writeFile(file, unitText({node: process.execPath, script: join(import.meta.dirname, 'unit.ts'), flags}));
    execFileSync('systemd-analyze', ['verify', file], {stdio: 'pipe'});
  });
});

describe('flags of a command', () => {
  test('are its own, or the agent’s', async () => {
    const {own, rest} = takeOwn(['--all', '--root-dir=/x', '--grace-seconds=3'], ['all', 'grace-seconds']);
    expect([...own]).toEqual([
      ['all', ''],
      ['grace-seconds', '3'],
    ]);
    expect((await settingsOf(rest)).text('root-dir')).toBe('/x');
  });

  test('that nobody knows are refused by name', async () => {
    await expect(settingsOf(['--no-such-flag'])).rejects.toThrow('unknown flag: --no-such-flag');
  });
});

describe('cleanup', () => {
  const mounted = new Set<string>();
  let stuck = '';
  const mounter: Mounter = {
    mount: async () => {},
    bind: async () => {},
    unmount: async (point) => {
      if (point === stuck) throw new Error('device is busy');
      mounted.delete(point);
    },
    below: async (path) => [...mounted].filter((point) => point.startsWith(path)),
  };
  beforeEach(() => {
    mounted.clear();
    stuck = '';
  });

  /** A pod of an agent's with this root directory, or of somebody's. */
  async function addPod(runtime: FakeRuntime, name: string, rootDir?: string, isManaged = true): Promise<void> {
    const uid = randomUUID();
    const pod = {metadata: {name, namespace: 'default', uid}} as Pod;
    const labels = isManaged ? podLabels(pod) : {[label.podUid]: uid};
    const sandbox = {metadata: {name, namespace: 'default', uid, attempt: 0}, logDirectory: '', labels, annotations: {}};
    const id = await runtime.runSandbox(sandbox);
    await runtime.pullImage('i');
    const container = {metadata: {name: 'c', attempt: 0}, image: {image: 'i'}, labels, annotations: {}, logPath: ''};
    await runtime.startContainer(await runtime.createContainer(id, container));
    if (rootDir) await mkdir(join(rootDir, 'pods', uid), {recursive: true});
    await mkdir(join(folder, 'logs', `default_${name}_${uid}`), {recursive: true});
  }

  async function prepare() {
    const rootDir = join(folder, 'root');
    const runtime = new FakeRuntime(['i']);
    runtime.registry.add('i');
    await mkdir(join(rootDir, 'pods'), {recursive: true});
    await writeFile(join(rootDir, 'format-version'), '1\n');
    await mkdir(join(folder, 'cgroup'));
    const {values} = parseArguments([`--root-dir=${rootDir}`, '--cgroup-root=/mine']);
    const said: string[] = [];
    const run = (all = false) =>
      cleanUp({
        settings: new Settings(values),
        runtime,
        all,
        graceSeconds: 1,
        mounter,
        logRoot: join(folder, 'logs'),
        cgroupMount: join(folder, 'cgroup'),
        say: (line) => said.push(line),
      });
    return {rootDir, runtime, run, said};
  }

  const names = async (runtime: FakeRuntime) => (await runtime.sandboxes()).map(({metadata}) => metadata.name);

  test('removes the pods of this root directory and nobody else’s, what is mounted, and the directory', async () => {
    const {rootDir, runtime, run, said} = await prepare();
    await addPod(runtime, 'mine', rootDir);
    await addPod(runtime, 'another');
    await addPod(runtime, 'foreign', undefined, false);
    mounted.add(join(rootDir, 'memory'));
    expect(await run()).toEqual([]);
    expect(await names(runtime)).toEqual(['another', 'foreign']);
    expect(mounted.size).toBe(0);
    expect(existsSync(rootDir)).toBe(false);
    expect(said).toEqual(['removed pod default/mine', `unmounted ${join(rootDir, 'memory')}`]);
  });

  test('takes pods of other nodeagents along when it is told to, and of other programs never', async () => {
    const {rootDir, runtime, run} = await prepare();
    await addPod(runtime, 'mine', rootDir);
    await addPod(runtime, 'another');
    await addPod(runtime, 'foreign', undefined, false);
    expect(await run(true)).toEqual([]);
    expect(await names(runtime)).toEqual(['foreign']);
  });

  test('leaves the directory while something is mounted there, and says so', async () => {
    const {rootDir, run} = await prepare();
    stuck = join(rootDir, 'pods/x/volumes/v');
    mounted.add(stuck);
    expect(await run()).toEqual([`${stuck}: device is busy`]);
    expect(existsSync(rootDir)).toBe(true);
    stuck = '';
    expect(await run()).toEqual([]);
    expect(existsSync(rootDir)).toBe(false);
  });

  test('keeps what it needs to find its pods while the runtime does not answer', async () => {
    const {rootDir, runtime, run} = await prepare();
    await addPod(runtime, 'mine', rootDir);
    runtime.fail = {removeSandbox: new RuntimeError('unavailable', 'connection refused')};
    expect(await run()).toEqual(['pod default/mine: connection refused']);
    expect(existsSync(rootDir)).toBe(true);
    runtime.fail = {};
    expect(await run()).toEqual([]);
    expect(await names(runtime)).toEqual([]);
  });

  test('removes no directory that is no agent’s', async () => {
    const {rootDir, run} = await prepare();
    await rm(join(rootDir, 'format-version'));
    expect(await run()).toEqual([]);
    expect(existsSync(rootDir)).toBe(true);
  });
});

describe('the cloud-init example', () => {
  test('is YAML, and what it runs of ours is there, with flags that are known', async () => {
    const text = await readFile(join(import.meta.dirname, 'cloud-init.yaml'), 'utf8');
    expect(text.startsWith('#cloud-config\n')).toBe(true);
    const {packages, write_files: files, runcmd} = parse(text);
    expect(packages).toContain('containerd');
    const script = [...runcmd, ...files.map(({content}: {content: string}) => content)].flat().join('\n');
    for (const {path, content} of files) if (path.endsWith('.conflist')) expect(JSON.parse(content).plugins[0].type).toBe('bridge');
    expect(files.map(({path}: {path: string}) => path)).toContain('/etc/nodeagent/kubeconfig');
    const uses = [...script.matchAll(/nodeagent (\w+)((?:\s+\\?\n?\s*--[\w-]+=\S+)*)/g)];
    expect(uses.length).toBeGreaterThan(0);
    for (const [, command = '', flags = ''] of uses) {
      expect(commands.has(command)).toBe(true);
      expect(parseArguments(flags.split(/[\s\\]+/).filter(Boolean)).errors).toEqual([]);
    }
  });
});
