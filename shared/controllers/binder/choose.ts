/** Which node a pod gets, or in the reference scheduler's words why none will do. Pure. */
import {matchesTerm, matchesTerms} from '../../selector/node-selector.ts';
import {collide, type Taken} from './room.ts';
import type {Demand, NodeView} from './subjects.ts';
import {keepsAway, tolerates, unschedulableTaint} from './taints.ts';

export type Choice = {node: string} | {refusal: string};

/** `hasVolumes`: the pod's volumes can be reached from the node. */
export function choose(
  demand: Demand,
  nodes: Iterable<NodeView>,
  takenOn: (node: string) => Taken,
  hasVolumes: (node: NodeView) => boolean = () => true,
): Choice {
  const refusals = new Map<string, number>();
  let count = 0;
  let best: {name: string; score: number; pods: number} | undefined;
  for (const node of nodes) {
    count++;
    const taken = takenOn(node.name);
    const reasons = refusalsOf(demand, node, taken);
    if (reasons.length === 0 && !hasVolumes(node)) reasons.push("node(s) didn't match PersistentVolume's node affinity");
    for (const reason of reasons) refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    if (reasons.length > 0) continue;
    const score = scoreOf(demand, node, taken);
    if (!best || score > best.score || (score === best.score && taken.pods < best.pods)) best = {name: node.name, score, pods: taken.pods};
  }
  if (best) return {node: best.name};
  if (count === 0) return {refusal: 'no nodes available to schedule pods'};
  return {
    refusal: unavailable(
      count,
      [...refusals]
        .map(([reason, nodesWith]) => `${nodesWith} ${reason}`)
        .sort(byCode)
        .join(', '),
    ),
  };
}

export const unavailable = (nodes: number, why: string): string => `0/${nodes} nodes are available: ${why}.`;

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Empty: it fits. In the reference's order, whose first refusal is the only one; of resources it names all that lack. */
export function refusalsOf(demand: Demand, node: NodeView, taken: Taken): string[] {
  const {tolerations, selector, terms, named, ports} = demand;
  if (named && !named.has(node.name)) return ["node(s) didn't satisfy plugin(s) [NodeAffinity]"];
  if (node.unschedulable && !tolerates(tolerations, unschedulableTaint)) return ['node(s) were unschedulable'];
  if (node.taints.some((taint) => keepsAway(taint) && !tolerates(tolerations, taint))) return ['node(s) had untolerated taint(s)'];
  const isSelected = Object.entries(selector).every(([key, value]) => node.labels[key] === value);
  if (!isSelected || (terms && !matchesTerms(terms, node))) return ["node(s) didn't match Pod's node affinity/selector"];
  if (ports.some((port) => taken.ports.some((other) => collide(port, other))))
    return ["node(s) didn't have free ports for the requested pod ports"];
  const lacking = Object.entries(demand.requests)
    .filter(([name, amount]) => amount > 0 && amount > (node.allocatable[name] ?? 0) - (taken.requests[name] ?? 0))
    .map(([name]) => `Insufficient ${name}`);
  return taken.pods + 1 > (node.allocatable['pods'] ?? 0) ? ['Too many pods', ...lacking] : lacking;
}

const taintWeight = 3;
const affinityWeight = 2;

/** What it would rather have weighs as in the reference; among equals the emptiest node. */
function scoreOf(demand: Demand, node: NodeView, taken: Taken): number {
  const shunned = node.taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerates(demand.tolerations, taint)).length;
  const preferred = demand.preferred.filter(({preference}) => matchesTerm(preference, node)).reduce((sum, {weight}) => sum + weight, 0);
  return (
    freeAfter(demand, node, taken, 'cpu') / 2 +
    freeAfter(demand, node, taken, 'memory') / 2 +
    affinityWeight * preferred -
    taintWeight * 100 * shunned
  );
}

/** Per cent. */
function freeAfter({weight}: Demand, {allocatable}: NodeView, taken: Taken, name: 'cpu' | 'memory'): number {
  const all = allocatable[name] ?? 0;
  return all === 0 ? 0 : Math.max(0, Math.floor((100 * (all - (taken.weight[name] ?? 0) - (weight[name] ?? 0))) / all));
}
