/** The agent is killed again and again, at any moment, while pods come and go. */
import {setTimeout as pause} from 'node:timers/promises';
import {containerState} from '../../agent/runtime/runtime.ts';
import {lostShims} from '../runtime/leftovers.ts';
import {startChurn} from './churn.ts';
import {type Fault, hold} from './fault.ts';
import {type FaultyNode, identityOf, isNothing, pod} from './node.ts';

export const agentKilled: Fault = {
  promise: 'kill -9 at any moment: no container is restarted or run twice, nothing is left of deleted pods',
  seconds: 60,
  pods: 50,
  async run({dice, pods, seconds, open}) {
    const node = await open();
    const stays = Array.from({length: 5}, (_, index) => `stays-${index}`);
    for (const name of stays) await node.create(pod(name));
    for (const name of stays) await node.untilReady(name);
    const before = await identities(node, stays);
    const churn = startChurn(node, dice, pods);
    let kills = 0;
    for (const end = Date.now() + seconds * 1000; Date.now() < end; kills++) {
      await pause(100 + dice.below(2500));
      await node.killAgent();
      await pause(dice.below(300));
      await node.startAgent();
    }
    await churn.stop();
    const healed = Date.now();
    for (const name of churn.wanted) await node.untilReady(name, 180_000);
    const healMs = Date.now() - healed;
    hold((await identities(node, stays)) === before, () => 'a container that ran all the while is another one, or was restarted');
    const all = await node.pods();
    const restarted = all.filter(({status}) => status.containerStatuses.some(({restartCount}: {restartCount: number}) => restartCount > 0));
    hold(restarted.length === 0, () => `restarted without a reason: ${restarted.map(({metadata}) => metadata.name)}`);
    const running = (await node.runtime.runtime.containers()).filter(({state}) => state === containerState.running);
    hold(running.length === all.length, () => `${running.length} containers run for ${all.length} pods`);
    const {ms, left} = await node.empty();
    hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
    return {
      kills,
      created: churn.created,
      deleted: churn.deleted,
      'all Ready after ms': healMs,
      'all gone after ms': ms,
      'shims that containerd lost': await lostShims(node.runtime),
    };
  },
};

export const identities = async (node: FaultyNode, names: readonly string[]): Promise<string> =>
  (await node.pods())
    .filter(({metadata}) => names.includes(metadata.name))
    .map((each) => `${each.metadata.name} ${identityOf(each)}`)
    .sort()
    .join('\n');
