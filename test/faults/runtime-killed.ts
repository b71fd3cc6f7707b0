/** The container runtime is killed and comes back, while pods come and go. Its shims, and so its containers, live on. */
import {setTimeout as pause} from 'node:timers/promises';
import {identities} from './agent-killed.ts';
import {startChurn} from './churn.ts';
import {type Fault, hold} from './fault.ts';
import {forgottenIn, isNothingOfAgent, isReady, nodeName, pod} from './node.ts';

export const runtimeKilled: Fault = {
  promise:
    'the runtime is killed and restarted: the node says NotReady and Ready again, containers are not restarted, nothing of the agent’s is left',
  seconds: 60,
  pods: 30,
  async run({dice, pods, seconds, open}) {
    const node = await open();
    const stays = Array.from({length: 5}, (_, index) => `stays-${index}`);
    for (const name of stays) await node.create(pod(name));
    for (const name of stays) await node.untilReady(name);
    const before = await identities(node, stays);
    const churn = startChurn(node, dice, pods);
    let kills = 0;
    for (const end = Date.now() + seconds * 1000; Date.now() < end; kills++) {
      await pause(2000 + dice.below(5000));
      await node.runtime.kill();
      await pause(dice.below(3000));
      await node.runtime.start();
    }
    await churn.stop();
    await node.ready();
    await node.runtime.kill();
    const downAt = Date.now();
    await node.api.until(`/api/v1/nodes/${nodeName}`, 'the node says that it is not Ready', (found) =>
      found?.status.conditions.some((each: {type: string; status: string}) => each.type === 'Ready' && each.status === 'False'),
    );
    const toldMs = Date.now() - downAt;
    await node.runtime.start();
    const upAt = Date.now();
    await node.api.until(`/api/v1/nodes/${nodeName}`, 'the node is Ready again', isReady);
    const readyMs = Date.now() - upAt;
    for (const name of churn.wanted) await node.untilReady(name, 180_000);
    const healMs = Date.now() - upAt;
    hold((await identities(node, stays)) === before, () => 'a container that ran all the while is another one, or was restarted');
    hold(node.agentStarts === 1 && node.isAgentRunning, () => 'the agent ended');
    const {ms, left} = await node.empty(isNothingOfAgent);
    hold(isNothingOfAgent(left), () => `left behind: ${JSON.stringify(left)}`);
    return {
      kills,
      created: churn.created,
      'NotReady after ms': toldMs,
      'Ready after ms': readyMs,
      'all Ready after ms': healMs,
      'all gone after ms': ms,
      'forgotten by containerd': forgottenIn(left),
    };
  },
};
