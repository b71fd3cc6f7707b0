/** The disk of the agent, and then that of the runtime, is full: pods wait and say why, and start when there is room again. */
import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, open as openFile, rm, statfs} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {promisify} from 'node:util';
import {type Fault, type FaultRun, type Figures, hold} from './fault.ts';
import {identityOf, isNothing, type Json, pod, podsPath} from './node.ts';

const run = promisify(execFile);

export const diskFull: Fault = {
  promise: 'a full disk, the agent’s or the runtime’s: pods that run go on, new ones wait and say why, and start when there is room',
  seconds: 20,
  pods: 5,
  async run(options) {
    const agents = await onSmallDisk(options, 'agent');
    const runtimes = await onSmallDisk(options, 'runtime');
    return {...agents, ...runtimes};
  },
};

async function onSmallDisk({open, pods, seconds, say}: FaultRun, whose: 'agent' | 'runtime'): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'clusterless-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m,nr_inodes=20000', 'tmpfs', folder]);
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const node = await open(whose === 'agent' ? {rootDir: disk} : {runtimeRoot: disk});
  node.afterwards(async () => {
    await run('umount', ['-l', folder]);
    await rm(folder, {recursive: true, force: true});
  });
  await node.api.ask('POST', '/api/v1/namespaces/default/configmaps', {metadata: {name: 'words'}, data: {text: 'x'.repeat(100_000)}});
  const names = Array.from({length: pods}, (_, index) => `early-${index}`);
  for (const name of names) await node.create(pod(name));
  for (const name of names) await node.untilReady(name);
  const before = (await node.pods()).map(identityOf).join();
  await fill(join(folder, 'ballast'));
  say(`the ${whose}'s disk is full`);
  const volumes = [
    {name: 'config', configMap: {name: 'words'}},
    {name: 'disk', emptyDir: {}},
  ];
  const volumeMounts = [{name: 'config', mountPath: '/config'}];
  const late = Array.from({length: pods}, (_, index) => `late-${index}`);
  for (const name of late) await node.create(pod(name, {volumes}, {volumeMounts}));
  const events = await node.api.until(
    '/api/v1/namespaces/default/events',
    'an event says that there is no room',
    (found) =>
      found?.items.some(({message, involvedObject}: Json) => /no space left|ENOSPC/i.test(message) && late.includes(involvedObject.name)),
    60_000,
  );
  const said = events.items.find(({message}: Json) => /no space left|ENOSPC/i.test(message)).reason;
  await pause(seconds * 1000);
  // One that goes while there is no room. What the agent does needs none; a runtime that cannot write cannot stop anything.
  await node.remove(names[0]!);
  const gone = () => node.api.until(`${podsPath}/${names[0]}`, 'the deleted pod goes', (found) => found === undefined);
  if (whose === 'agent') await gone();
  hold(node.isAgentRunning && node.agentStarts === 1, () => 'the agent ended');
  // And an agent that starts then.
  await node.killAgent();
  await node.startAgent();
  await pause(3000);
  hold(node.isAgentRunning, () => 'the agent does not start on a full disk');
  await rm(join(folder, 'ballast'));
  const roomAt = Date.now();
  await gone();
  for (const name of late) await node.untilReady(name, 120_000);
  const ms = Date.now() - roomAt;
  const after = (await node.pods()).filter(({metadata}) => names.includes(metadata.name)).map(identityOf);
  hold(
    after.every((identity) => before.includes(identity)),
    () => 'a container that ran all the while is another one, or was restarted',
  );
  const {left} = await node.empty();
  hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
  return {[`${whose}: said as`]: said, [`${whose}: all Ready after ms`]: ms};
}

async function fill(path: string): Promise<void> {
  const file = await openFile(path, 'w');
  const block = Buffer.alloc(1 << 16);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
  const {bavail} = await statfs(path);
  hold(bavail === 0, () => 'the disk is not full');
}
