/** Takes environments away at random, as Lambda may at any time: idle ones, and some in the middle of an invocation. From a seed. */
import type {Environment} from './lambda/environment.ts';

export interface Chaos {
  readonly killed: number;
  stop(): void;
}

export interface ChaosOptions {
  seed: number;
  environments(): Promise<readonly Environment[]>;
  /** Mean time between two blows. */
  everyMs?: number;
}

export function startChaos({seed, environments, everyMs = 700}: ChaosOptions): Chaos {
  const random = randomFrom(seed);
  let killed = 0;
  let timer: NodeJS.Timeout;
  let stopped = false;
  const blow = async (): Promise<void> => {
    const alive = (await environments()).filter(({dead}) => !dead);
    if (!stopped && alive.length > 0) {
      alive[Math.floor(random() * alive.length)]!.kill();
      killed++;
    }
    if (!stopped) plan();
  };
  const plan = (): void => {
    timer = setTimeout(() => void blow(), everyMs * (0.2 + 1.6 * random()));
  };
  plan();
  return {
    get killed() {
      return killed;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Mulberry32: small, and the same everywhere. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
