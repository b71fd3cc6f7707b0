/**
 * The wall clock jumps, an hour on and an hour back, with the agent running and under an agent that starts anew. Only the agent sees it (see
 * shifted-clock.mjs): the runtime, the server and the machine, which others use too, keep their time.
 */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {pathToFileURL} from 'node:url';
import {images} from '../runtime/images.ts';
import {identities} from './agent-killed.ts';
import {type Fault, hold} from './fault.ts';
import {isNothing, nodeName, pod, podsPath} from './node.ts';

const hourMs = 3_600_000;
const shim = new URL('./shifted-clock.mjs', import.meta.url);

export const clockJump: Fault = {
  promise:
    'the wall clock jumps an hour either way: containers are not restarted, probes go on, crashes are not held for longer, pods start and end',
  seconds: 15,
  pods: 10,
  async run({open, pods, seconds, say}) {
    const folder = await mkdtemp(join(tmpdir(), 'clusterless-clock-'));
    const file = join(folder, 'offset');
    await writeFile(file, '0');
    const node = await open({nodeFlags: ['--import', pathToFileURL(shim.pathname).href], environment: {SHIFTED_CLOCK: file}});
    try {
      const probe = {exec: {command: ['test', '-e', '/tmp/well']}, periodSeconds: 1};
      const stays = Array.from({length: pods}, (_, index) => `stays-${index}`);
      for (const name of stays) await node.create(pod(name));
      await node.create(
        pod('probed', {}, {image: images.busybox, command: ['sh', '-c', 'touch /tmp/well; sleep 100000'], readinessProbe: probe}),
      );
      for (const name of [...stays, 'probed']) await node.untilReady(name);
      const before = await identities(node, [...stays, 'probed']);
      const figures: Record<string, number> = {};
      for (const [what, offset] of [
        ['an hour on', hourMs],
        ['back', 0],
        ['an hour back', -hourMs],
      ] as const)
        for (const anew of [false, true]) {
          const title = `${what}${anew ? ', agent anew' : ''}`;
          say(title);
          await writeFile(file, String(offset));
          if (anew) {
            await node.killAgent();
            await node.startAgent();
          }
          await pause(seconds * 1000);
          const began = Date.now();
          const name = `new-${Object.keys(figures).length}`;
          await node.create(pod(name, {}, {command: ['sh', '-c', 'touch /tmp/well; sleep 100000'], readinessProbe: probe}));
          await node.untilReady(name, 60_000);
          figures[`${title}: a new pod Ready after ms`] = Date.now() - began;
          // A probe that still runs notices.
          const id = await containerOf(node, 'probed');
          await node.runtime.runtime.exec(id, ['rm', '/tmp/well'], 10);
          await node.api.until(`${podsPath}/probed`, `${title}: the probe notices`, (found) =>
            found.status.conditions.some((each: {type: string; status: string}) => each.type === 'Ready' && each.status === 'False'),
          );
          await node.runtime.runtime.exec(id, ['touch', '/tmp/well'], 10);
          await node.untilReady('probed');
          // The first restart is held for ten seconds at most.
          const crash = `crash-${name}`;
          await node.create(pod(crash, {}, {command: ['sh', '-c', 'sleep 1; exit 3']}));
          await node.api.until(
            `${podsPath}/${crash}`,
            `${title}: a crash is not held for longer`,
            (found) => (found?.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2,
            60_000,
          );
          await node.remove(crash);
          await node.remove(name);
          await node.api.until(`${podsPath}/${name}`, `${title}: the pod goes`, (found) => found === undefined);
          const found = await node.api.ask('GET', `/api/v1/nodes/${nodeName}`);
          hold(
            found.status.conditions.some((each: {type: string; status: string}) => each.type === 'Ready' && each.status === 'True'),
            () => `${title}: the node is not Ready`,
          );
        }
      hold(
        (await identities(node, [...stays, 'probed'])) === before,
        () => 'a container that ran all the while is another one, or was restarted',
      );
      const {left} = await node.empty();
      hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
      return figures;
    } finally {
      await rm(folder, {recursive: true, force: true});
    }
  },
};

const containerOf = async (node: Parameters<typeof identities>[0], name: string): Promise<string> =>
  (await node.api.ask('GET', `${podsPath}/${name}`)).status.containerStatuses[0].containerID.replace(/^.*:\/\//, '');
