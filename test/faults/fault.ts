/** One fault: what is done to a node, what has to hold all the while, and the figures that were seen. */
import type {Dice} from '../fuzz/dice.ts';
import type {FaultyNode, NodeOptions} from './node.ts';

export interface FaultRun {
  dice: Dice;
  /** How many pods at a time. */
  pods: number;
  /** How long the fault goes on. */
  seconds: number;
  /** Opens a node that is closed when the fault has run. */
  open(options?: NodeOptions): Promise<FaultyNode>;
  say(text: string): void;
}

export type Figures = Record<string, string | number>;

export interface Fault {
  /** What the agent promises, as docs/node.md has it. */
  promise: string;
  seconds: number;
  pods: number;
  /** @throws Error for a promise that was broken */
  run(run: FaultRun): Promise<Figures>;
}

export function hold(condition: boolean, otherwise: () => string): asserts condition {
  if (!condition) throw new Error(otherwise());
}
