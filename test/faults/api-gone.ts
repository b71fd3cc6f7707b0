/** The API server is gone for minutes and comes back: pods go on meanwhile, and the status catches up. */
import {setTimeout as pause} from 'node:timers/promises';
import {containerState} from '../../agent/runtime/runtime.ts';
import {images} from '../runtime/images.ts';
import {identities} from './agent-killed.ts';
import {type Fault, hold} from './fault.ts';
import {type FaultyNode, isNothing, pod} from './node.ts';

export const apiGone: Fault = {
  promise: 'no API server for ten minutes: pods go on, are probed and restarted, survive a restart of the agent; the status catches up',
  seconds: 600,
  pods: 20,
  async run({pods, seconds, open, say}) {
    const node = await open();
    const stays = Array.from({length: pods}, (_, index) => `stays-${index}`);
    for (const name of stays) await node.create(pod(name));
    const probe = {httpGet: {path: '/healthz', port: 8080}, periodSeconds: 1};
    await node.create(pod('web', {}, {image: images.web, command: ['/bin/serve'], readinessProbe: probe}));
    // Ends now and then by itself, and is started again without being held for long.
    await node.create(pod('restarts', {restartPolicy: 'Always'}, {command: ['sh', '-c', 'sleep 20; exit 0']}));
    for (const name of [...stays, 'web']) await node.untilReady(name);
    const web = await node.untilReady('web');
    const before = await identities(node, [...stays, 'web']);

    await node.server.kill();
    const goneAt = Date.now();
    const end = goneAt + seconds * 1000;
    let asked = 0;
    let answered = 0;
    let agentRestarted = false;
    const webId = (await instancesOf(node, 'web'))[0]!.id;
    while (Date.now() < end) {
      asked += 1;
      const answer = await fetch(`http://${web.status.podIP}:8080/healthz`, {signal: AbortSignal.timeout(5000)}).catch(() => undefined);
      if (answer?.ok) answered += 1;
      await pause(500);
      if (!agentRestarted && Date.now() > goneAt + (seconds * 1000) / 2) {
        agentRestarted = true;
        say('the agent is killed and started while nobody answers');
        await node.killAgent();
        await node.startAgent();
      }
    }
    hold(answered === asked, () => `the web server answered ${answered} of ${asked} requests`);
    hold((await instancesOf(node, 'web'))[0]?.id === webId, () => 'the web server is another container');
    const lives = Math.max(...(await instancesOf(node, 'restarts')).map(({metadata}) => metadata.attempt));
    const running = (await node.runtime.runtime.containers()).filter(({state}) => state === containerState.running).length;
    hold(running >= pods + 1, () => `only ${running} containers run`);
    hold(node.isAgentRunning, () => 'the agent ended');

    await node.server.start();
    const backAt = Date.now();
    await node.ready(120_000);
    const readyMs = Date.now() - backAt;
    await node.api.until(
      '/api/v1/namespaces/default/pods/restarts',
      'the status has caught up',
      (found) => found?.status.containerStatuses[0].restartCount >= lives,
      120_000,
    );
    await node.create(pod('after'));
    await node.untilReady('after', 120_000);
    const newPodMs = Date.now() - backAt;
    hold(
      (await identities(node, [...stays, 'web'])) === before,
      () => 'a container that ran all the while is another one, or was restarted',
    );
    const {ms, left} = await node.empty();
    hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
    return {
      ...{'gone for s': seconds, 'requests answered': answered, 'restarts meanwhile': lives},
      ...{'Ready after ms': readyMs, 'a new pod Ready after ms': newPodMs, 'all gone after ms': ms},
    };
  },
};

const instancesOf = async (node: FaultyNode, name: string) =>
  (await node.runtime.runtime.containers()).filter(({labels}) => Object.values(labels).includes(name));
