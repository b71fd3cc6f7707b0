/**
 * A process in virtual time, with a clock of its own and a network between it and the database. It can be frozen, which holds its
 * timers and the answers it gets while its requests travel on; its clocks may stand still meanwhile, or be set; it can crash.
 */

import type {Clock} from '../../../clock.ts';
import type {DynamoCalls} from '../calls.ts';
import type {DynamoDouble} from './double.ts';
import {expiredSignature, timedOut} from './errors.ts';
import {type CallFaults, callOf, eachCall, fateOf, noCallFaults} from './faults.ts';
import type {Steps} from './steps.ts';

const requestTimeoutMs = 5_000;
/** For as long the signature of a request is taken. */
const signatureMs = 15 * 60_000;

export interface MachineOptions {
  steps: Steps;
  double: DynamoDouble;
  random: () => number;
  /** How far its wall clock is off. */
  skewMs?: number;
  /** Whether its monotonic clock stands still while it is frozen. */
  stopsWhenFrozen?: boolean;
}

export class Machine {
  readonly clock: Clock;
  readonly calls: DynamoCalls;
  rates: CallFaults = noCallFaults;
  /** Travels are this much longer at most, one in twenty. */
  slownessMs = 0;
  readonly died: Promise<void>;
  readonly #steps: Steps;
  readonly #double: DynamoDouble;
  readonly #random: () => number;
  readonly #stopsWhenFrozen: boolean;
  #skewMs: number;
  #frozenAt: number | undefined;
  #frozenMs = 0;
  #dead = false;
  #held: (() => void)[] = [];
  #die!: () => void;

  constructor({steps, double, random, skewMs = 0, stopsWhenFrozen = false}: MachineOptions) {
    this.#steps = steps;
    this.#double = double;
    this.#random = random;
    this.#skewMs = skewMs;
    this.#stopsWhenFrozen = stopsWhenFrozen;
    this.clock = {now: () => steps.now() + this.#skewMs, after: (ms, callback) => steps.after(ms, () => this.#here(callback))};
    this.calls = eachCall((verb, input) => this.#call(verb, input));
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  readonly monotonic = (): number => this.#steps.now() - this.#frozenMs;

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  get dead(): boolean {
    return this.#dead;
  }

  freeze(): void {
    this.#frozenAt ??= this.#steps.now();
  }

  /** `setMs`: its wall clock is set by this as well; never while the monotonic one stood still. */
  thaw(setMs = 0): void {
    if (this.#frozenAt === undefined) return;
    if (this.#stopsWhenFrozen) this.#frozenMs += this.#steps.now() - this.#frozenAt;
    else this.#skewMs += setMs;
    this.#frozenAt = undefined;
    for (const callback of this.#held.splice(0)) this.#steps.after(this.#random() * 10, () => this.#here(callback));
  }

  crash(): void {
    this.#dead = true;
    this.#held = [];
    this.#die();
  }

  #here(callback: () => void): void {
    if (this.#dead) return;
    if (this.#frozenAt === undefined) callback();
    else this.#held.push(callback);
  }

  #call(verb: Parameters<typeof callOf>[1], input: object): Promise<object> {
    const steps = this.#steps;
    return new Promise((resolve, reject) => {
      const fate = fateOf(verb, input, this.#random, this.rates);
      let answered = false;
      const answer = (tell: () => void): void => {
        steps.after(this.#travelMs(), () =>
          this.#here(() => {
            if (answered) return;
            answered = true;
            forget();
            tell();
          }),
        );
      };
      const forget = this.clock.after(requestTimeoutMs, () => {
        answered = true;
        reject(timedOut());
      });
      if (fate.kind === 'fails') {
        answer(() => reject(fate.error));
        return;
      }
      const travelMs = fate.kind === 'late' ? requestTimeoutMs + this.#random() ** 4 * signatureMs : this.#travelMs();
      const sentAt = steps.now();
      steps.after(travelMs, () => {
        if (steps.now() - sentAt > signatureMs) {
          answer(() => reject(expiredSignature()));
          return;
        }
        callOf(
          this.#double,
          verb,
        )(input).then(
          (output) => answer(() => (fate.kind === 'fails after' ? reject(fate.error) : resolve(output))),
          (error: Error) => answer(() => reject(fate.kind === 'fails after' ? fate.error : error)),
        );
      });
    });
  }

  #travelMs(): number {
    return this.#random() * (this.#random() < 0.05 ? 3 + this.slownessMs : 3);
  }
}
