/**
 * A bounded map that forgets what was not asked for lately. Two generations instead of a list: a look-up moves nothing, and when the
 * young generation is full the old one is dropped.
 */
export class RecentMap<K, V> {
  readonly #generationSize: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** Holds at least `size` recent entries, at most twice as many. */
  constructor(size: number) {
    this.#generationSize = size;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined || this.#old.size === 0) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#generationSize && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Removes every entry for which `condition` holds. */
  deleteWhere(condition: (value: V) => boolean): void {
    for (const generation of [this.#young, this.#old]) for (const [key, value] of generation) if (condition(value)) generation.delete(key);
  }
}
