/** Pods that come and go by the dice, about so many at a time, while something else goes wrong. */
import {setTimeout as pause} from 'node:timers/promises';
import type {Dice} from '../fuzz/dice.ts';
import {type FaultyNode, pod} from './node.ts';

export interface Churn {
  /** Those that should be there. */
  readonly wanted: ReadonlySet<string>;
  readonly created: number;
  readonly deleted: number;
  stop(): Promise<void>;
}

const webLike = {emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}};

/** Half of the pods have volumes, a tenth a grace that they use up. */
export function startChurn(node: FaultyNode, dice: Dice, pods: number): Churn {
  const wanted = new Set<string>();
  let serial = 0;
  let deleted = 0;
  let stopped = false;
  const spec = () =>
    dice.chance(0.5)
      ? {
          volumes: [
            {name: 'memory', ...webLike},
            {name: 'disk', emptyDir: {}},
          ],
        }
      : {};
  const container = () => (dice.chance(0.1) ? {command: ['sh', '-c', 'trap "" TERM; while true; do sleep 0.2; done']} : {});
  const turn = async (): Promise<void> => {
    const grow = wanted.size < pods && (wanted.size < pods / 2 || dice.chance(0.6));
    if (grow) {
      const name = `churn-${serial}`;
      serial += 1;
      const more = spec();
      const volumeMounts =
        'volumes' in more
          ? [
              {name: 'memory', mountPath: '/memory'},
              {name: 'disk', mountPath: '/disk', subPath: 'a'},
            ]
          : [];
      await node.create(pod(name, more, {...container(), volumeMounts}));
      wanted.add(name);
    } else {
      const name = dice.pick([...wanted]);
      wanted.delete(name);
      deleted += 1;
      await node.remove(name, dice.below(2));
    }
  };
  const done = (async () => {
    while (!stopped) {
      await turn();
      await pause(dice.below(150));
    }
  })();
  // Told by `stop`; a fault that breaks its promise does not come to that.
  done.catch(() => {});
  return {
    wanted,
    get created() {
      return serial;
    },
    get deleted() {
      return deleted;
    },
    async stop() {
      stopped = true;
      await done;
    },
  };
}
