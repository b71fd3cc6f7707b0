/** A node is not ready until its conditions say so: it is born with the taint. */
import {list} from '../kinds/common/loose.ts';
import type {Plugin} from './attributes.ts';

const key = 'node.kubernetes.io/not-ready';
const effect = 'NoSchedule';

export const taintNodesByCondition: Plugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  resources: ['nodes'],
  mutate({object: node}) {
    if (!node) return;
    node.spec ??= {};
    const taints = list(node.spec.taints);
    if (!taints.some((taint) => taint.key === key && taint.effect === effect)) node.spec.taints = [...taints, {key, effect}];
  },
};
