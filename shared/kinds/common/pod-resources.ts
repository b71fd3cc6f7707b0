/**
 * Resources of a pod as a whole, and sums over its containers: sidecars count all the time, other init containers one at a time. Totals
 * also know the pod's own amounts, its overhead, and what a resize under way still holds.
 */
import {type FieldError, fieldForbidden, invalid} from '../../field-errors.ts';
import {entries, list, type Part} from './loose.ts';
import {nanos, printQuantity} from './quantity.ts';
import {isHugePages, podResourceName, resourceRequirements} from './resources.ts';

export type Amounts = Map<string, {amount: bigint; like: unknown}>;

function add(sums: Amounts, given: Part): void {
  for (const [name, value] of entries(given)) {
    const before = sums.get(name);
    sums.set(name, {amount: (before?.amount ?? 0n) + nanos(value), like: before?.amount ? before.like : value});
  }
}

function atLeast(sums: Amounts, other: Amounts): void {
  for (const [name, value] of other) if ((sums.get(name)?.amount ?? -1n) < value.amount) sums.set(name, value);
}

/** What the containers together ask for (`requests`) or are bound to (`limits`). */
export function containerTotals(spec: Part, kind: 'requests' | 'limits'): Amounts {
  const sums: Amounts = new Map();
  for (const container of list(spec?.containers)) add(sums, container.resources?.[kind]);
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of list(spec?.initContainers)) {
    if (container.restartPolicy === 'Always') {
      add(sums, container.resources?.[kind]);
      add(sidecars, container.resources?.[kind]);
      atLeast(peak, sidecars);
    } else {
      const beside: Amounts = new Map(sidecars);
      add(beside, container.resources?.[kind]);
      atLeast(peak, beside);
    }
  }
  atLeast(sums, peak);
  return sums;
}

/** Resources that a pod may ask for as a whole. */
export const isStandardPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

/** What a pod takes altogether (`requests`), or is bound to (`limits`). */
export function podTotals({spec, status}: Part, kind: 'requests' | 'limits'): Amounts {
  const sums = containerTotals(held(spec, status, kind), kind);
  for (const [name, value] of entries(spec?.resources?.[kind]))
    if (isStandardPodLevel(name)) sums.set(name, {amount: nanos(value), like: value});
  for (const [name, value] of entries(spec?.overhead)) if (kind === 'requests' || sums.get(name)?.amount) add(sums, {[name]: value});
  return sums;
}

/** The spec with containers that hold more than it says, or less, because they are being resized. */
function held(spec: Part, status: Part, kind: 'requests' | 'limits'): Part {
  const statuses = [...list(status?.containerStatuses), ...list(status?.initContainerStatuses)].filter(({resources}) => resources);
  if (statuses.length === 0) return spec;
  const pending = list(status?.conditions).find(({type}) => type === 'PodResizePending');
  const isInfeasible = pending?.reason === 'Infeasible';
  const resized = (container: Part): Part => {
    const found = statuses.find(({name}) => name === container.name);
    if (!found) return container;
    const amounts = [found.resources[kind], ...(kind === 'requests' ? [found.allocatedResources] : [])];
    if (!isInfeasible) amounts.push(container.resources?.[kind]);
    return {...container, resources: {[kind]: largest(amounts)}};
  };
  return {
    containers: list(spec?.containers).map(resized),
    initContainers: list(spec?.initContainers).map((container) => (container.restartPolicy === 'Always' ? resized(container) : container)),
  };
}

function largest(lists: readonly Part[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const amounts of lists)
    for (const [name, value] of entries(amounts)) if (!(name in result) || nanos(value) > nanos(result[name])) result[name] = value;
  return result;
}

export function podLevelResources(spec: Part, path: string, specPath: string): FieldError[] {
  const {resources} = spec;
  if (!resources) return [];
  if (spec.os?.name === 'windows') return [fieldForbidden(path, 'may not be set for a windows pod')];
  const errors: FieldError[] = [];
  if (resources.claims) errors.push(fieldForbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level'));
  errors.push(...resourceRequirements(resources, path, {name: podResourceName}));
  for (const [name, {amount, like}] of containerTotals(spec, 'requests')) {
    const own = resources.requests?.[name];
    if (own !== undefined && amount > nanos(own))
      errors.push(
        invalid(
          `${path}.requests[${name}]`,
          own,
          `must be greater than or equal to aggregate container requests of ${printQuantity(amount, like)}`,
        ),
      );
  }
  for (const [name, {amount, like}] of containerTotals(spec, 'limits')) {
    const own = resources.limits?.[name];
    if (isHugePages(name) && own !== undefined && amount > nanos(own))
      errors.push(
        invalid(
          `${path}.requests.limits[${name}]`,
          own,
          `must be greater than or equal to aggregate container limits of ${printQuantity(amount, like)}`,
        ),
      );
  }
  for (const [index, container] of list(spec.containers).entries())
    for (const [name, limit] of entries(container.resources?.limits)) {
      const own = resources.limits?.[name];
      if (own !== undefined && nanos(limit) > nanos(own))
        errors.push(
          invalid(
            `${specPath}.resources.containers[${index}][${name}].limits`,
            limit,
            `must be less than or equal to pod limits of ${own}`,
          ),
        );
    }
  return errors;
}
