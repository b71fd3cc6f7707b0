/** Exhaustive search of a state machine: every reachable state once, each checked, the shortest way to the first bad one. */

export interface Machine<State> {
  initial: State;
  /** Every step that is possible in a state, by name. A step that breaks a promise throws Violation. */
  steps(state: State): Iterable<readonly [name: string, next: () => State]>;
  /** Equal for states that behave alike. */
  identity(state: State): string;
  /** Throws Violation when the state breaks a promise. */
  check(state: State): void;
  /** Throws Violation when nothing more can happen though something should. */
  checkEnd(state: State): void;
}

export class Violation extends Error {}

export interface Explored {
  states: number;
  steps: number;
  /** The first broken promise, and the steps that lead to it. */
  violation?: {promise: string; history: string[]};
}

/** Breadth first, so that a history is as short as it can be. */
export function explore<State>(machine: Machine<State>): Explored {
  const seen = new Set<string>([machine.identity(machine.initial)]);
  const queue: {state: State; parent: number; name: string}[] = [{state: machine.initial, parent: -1, name: ''}];
  let steps = 0;
  const historyOf = (index: number, last: string): string[] => {
    const names = last ? [last] : [];
    for (let at = index; queue[at]!.parent >= 0; at = queue[at]!.parent) names.unshift(queue[at]!.name);
    return names;
  };
  for (let index = 0; index < queue.length; index++) {
    const {state} = queue[index]!;
    let stuck = true;
    for (const [name, next] of machine.steps(state)) {
      steps++;
      try {
        const reached = next();
        stuck = false;
        const id = machine.identity(reached);
        if (seen.has(id)) continue;
        seen.add(id);
        machine.check(reached);
        queue.push({state: reached, parent: index, name});
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        return {states: seen.size, steps, violation: {promise: error.message, history: historyOf(index, name)}};
      }
    }
    if (!stuck) continue;
    try {
      machine.checkEnd(state);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return {states: seen.size, steps, violation: {promise: error.message, history: historyOf(index, '')}};
    }
  }
  return {states: seen.size, steps};
}
