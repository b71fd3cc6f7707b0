/** Choices from a seed: the same seed makes the same ones. */
import {seededRandom} from '../../shared/storage/faults.ts';

export class Dice {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** 0 to below `below`. */
  below(below: number): number {
    return Math.floor(this.random() * below);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({length: count}, () => this.below(256));
  }
}
