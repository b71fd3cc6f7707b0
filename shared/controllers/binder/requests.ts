/** What a pod asks of its node, as numbers: cpu in thousandths of a core, everything else in whole units, both rounded up. Pure. */
import type {KubeObject} from '../../object.ts';
import {parseQuantity, quantityUnits} from '../../schema/quantity.ts';

export type Amounts = Readonly<Record<string, number>>;

type Quantities = Readonly<Record<string, string>>;

const nanosPerMilli = 1_000_000n;

export function amountsOf(quantities: Quantities = {}): Amounts {
  const out: Record<string, number> = {};
  for (const [name, text] of Object.entries(quantities)) out[name] = name === 'cpu' ? milli(text) : Number(quantityUnits(text));
  return out;
}

function milli(text: string): number {
  const nanos = parseQuantity(text)?.nanos ?? 0n;
  return Number((nanos + nanosPerMilli - 1n) / nanosPerMilli);
}

/** The pod's largest need at any one time: while an init container runs, or when all the others do; sidecars count in both. */
export function podRequests({spec, status}: KubeObject, floor: Amounts = {}): Amounts {
  const statuses: KubeObject[] = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const of = (container: KubeObject): Amounts => containerRequests(container, floor, statuses);
  let running: Amounts = {};
  for (const container of spec.containers) running = plus(running, of(container));
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const own = of(container);
    if (container.restartPolicy === 'Always') {
      sidecars = plus(sidecars, own);
      starting = largest(starting, sidecars);
    } else starting = largest(starting, plus(sidecars, own));
  }
  const total = {...largest(plus(running, sidecars), starting), ...podLevel(spec.resources?.requests)};
  return plus(total, amountsOf(spec.overhead));
}

/** While a resize is under way both the old and the new amount count. */
function containerRequests({name, resources}: KubeObject, floor: Amounts, statuses: readonly KubeObject[]): Amounts {
  const asked = amountsOf(resources?.requests);
  const status = statuses.find((each) => each['name'] === name);
  const held = status ? largest(amountsOf(status['resources']?.requests), amountsOf(status['allocatedResources'])) : {};
  return largest({...floor, ...asked}, held);
}

const podLevel = (requests: Quantities = {}): Amounts =>
  amountsOf(
    Object.fromEntries(Object.entries(requests).filter(([name]) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'))),
  );

export const plus = (one: Amounts, other: Amounts): Amounts => merge(one, other, (a, b) => a + b);
const largest = (one: Amounts, other: Amounts): Amounts => merge(one, other, Math.max);

function merge(one: Amounts, other: Amounts, by: (a: number, b: number) => number): Amounts {
  const out: Record<string, number> = {...one};
  for (const [name, amount] of Object.entries(other)) out[name] = by(out[name] ?? 0, amount);
  return out;
}
