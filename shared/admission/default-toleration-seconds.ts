/** A pod stays five minutes on a node that is not ready or out of reach, unless it says otherwise. */
import {list} from '../kinds/common/loose.ts';
import type {Plugin} from './attributes.ts';

const tolerationSeconds = 300;

export const defaultTolerationSeconds: Plugin = {
  name: 'DefaultTolerationSeconds',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  mutate({object: pod}) {
    if (!pod) return;
    pod.spec ??= {};
    const given = list(pod.spec.tolerations);
    const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
      (key) =>
        !given.some(
          (toleration) => (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute'),
        ),
    );
    if (missing.length)
      pod.spec.tolerations = [...given, ...missing.map((key) => ({key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds}))];
  },
};
