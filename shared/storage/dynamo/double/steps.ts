/**
 * Virtual time that goes from event to event. Between two events everything that they set free runs to its end, so that a seed repeats
 * a run exactly: nothing depends on real time, as long as nobody in it waits for the real world.
 */

import type {Clock} from '../../../clock.ts';

interface Event {
  at: number;
  order: number;
  callback: (() => void) | undefined;
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class Steps implements Clock {
  #now: number;
  #order = 0;
  /** A binary heap. */
  readonly #events: Event[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const event: Event = {at: this.#now + Math.max(0, ms), order: this.#order++, callback};
    const events = this.#events;
    let at = events.length;
    events.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[at] = events[parent]!;
      at = parent;
    }
    events[at] = event;
    return () => {
      event.callback = undefined;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** All clocks at once; what fell due meanwhile happens late, in its order. */
  leap(ms: number): void {
    this.#now += ms;
  }

  /** Event after event while `goes` says so. False when nothing is left that could happen. */
  async run(goes: () => boolean): Promise<boolean> {
    await settled();
    while (goes()) {
      const event = this.#pop();
      if (!event) return false;
      const {callback} = event;
      if (!callback) continue;
      this.#now = Math.max(this.#now, event.at);
      callback();
      await settled();
    }
    return true;
  }

  #pop(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (!last || first === last) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child++;
      if (!isBefore(events[child]!, last)) break;
      events[at] = events[child]!;
      at = child;
    }
    events[at] = last;
    return first;
  }
}

/** When all promises that could go on have done so, and all callbacks of setImmediate that were waiting. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
