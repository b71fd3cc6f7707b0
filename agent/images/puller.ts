/**
 * Makes sure that an image is there: by the container's policy, one pull at a time or many, no more often than agreed, and not again and again
 * when it fails. What went wrong is an ImageError with the reason that kubectl shows.
 */

import type {Clock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import {ageMs} from '../age.ts';
import type {TokenBucket} from '../api/token-bucket.ts';
import {Backoff} from '../pods/backoff.ts';
import type {Image, Runtime, SandboxConfig} from '../runtime/runtime.ts';
import {loginsFor} from './credentials.ts';
import {type ImageName, parseImage} from './reference.ts';

export class ImageError extends Error {
  readonly reason: 'InvalidImageName' | 'ErrImageNeverPull' | 'ErrImagePull' | 'ImagePullBackOff' | 'ImageInspectError';
  /** When another try makes sense; absent where only another specification helps. */
  readonly retryAt: number | undefined;

  constructor(reason: ImageError['reason'], message: string, retryAt?: number) {
    super(message);
    this.reason = reason;
    this.retryAt = retryAt;
  }
}

export interface ImageRequest {
  image: string;
  policy: string;
  /** The pod and image that a back-off belongs to. */
  backoffKey: string;
  secrets(): Promise<KubeObject[]>;
  sandbox: SandboxConfig;
  /** Events of the container: type, reason, message. */
  say(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

export interface PullerOptions {
  runtime: Runtime;
  clock: Clock;
  serialize: boolean;
  /** None: no limit. */
  bucket?: TokenBucket;
}

/** Long enough for a pod's sandbox to be made, too short for an image to be replaced unnoticed. */
const lookCountsMs = 1000;
const maxLooks = 100;
const pullBackoff = {firstMs: 10_000, longestMs: 300_000};

export class Puller {
  readonly #options: PullerOptions;
  readonly #backoff = new Backoff(pullBackoff);
  readonly #failedAt = new Map<string, number>();
  readonly #messages = new Map<string, string>();
  readonly #looks = new Map<string, {at: number; answer: Promise<Image | undefined>}>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: PullerOptions) {
    this.#options = options;
  }

  /** @throws ImageError */
  async ensure(request: ImageRequest): Promise<Image> {
    const {image, policy, say} = request;
    let name: ImageName;
    try {
      name = parseImage(image);
    } catch (error) {
      const {message} = error as Error;
      say('Warning', 'InspectFailed', message);
      throw new ImageError('InvalidImageName', message);
    }
    const present = await this.#look(name.reference).catch((error: Error) => {
      say('Warning', 'InspectFailed', `Failed to inspect image ${JSON.stringify(image)}: ${error.message}`);
      throw new ImageError(
        'ImageInspectError',
        `Failed to inspect image ${JSON.stringify(image)}: ${error.message}`,
        this.#options.clock.now() + 10_000,
      );
    });
    if (present && policy !== 'Always') {
      say('Normal', 'Pulled', `Container image ${JSON.stringify(image)} already present on machine and can be accessed by the pod`);
      return present;
    }
    if (policy === 'Never') {
      const message = `Container image ${JSON.stringify(image)} is not present with pull policy of Never`;
      say('Warning', 'ErrImageNeverPull', message);
      throw new ImageError('ErrImageNeverPull', message);
    }
    return this.#pull(request, name);
  }

  /** Begins to look whether it is there, for an answer that is wanted soon. */
  lookAhead(image: string): void {
    try {
      this.#look(parseImage(image).reference).catch(() => {});
    } catch {
      // It is said when it is wanted.
    }
  }

  /** An image was removed: what was seen of it does not count. */
  forgetLooks(): void {
    this.#looks.clear();
  }

  /** Pods that start together mostly want the same images: the runtime is asked once in a while for all of them. */
  #look(reference: string): Promise<Image | undefined> {
    const {runtime, clock} = this.#options;
    const known = this.#looks.get(reference);
    if (known && ageMs(known.at, clock.now()) < lookCountsMs) return known.answer;
    if (this.#looks.size >= maxLooks) this.#looks.clear();
    const look = {at: clock.now(), answer: runtime.image(reference)};
    this.#looks.set(reference, look);
    look.answer.then(
      (image) => image ?? this.#looks.delete(reference),
      () => this.#looks.delete(reference),
    );
    return look.answer;
  }

  async #pull(request: ImageRequest, name: ImageName): Promise<Image> {
    const {image, say, backoffKey} = request;
    const {clock, runtime, serialize} = this.#options;
    this.#refuseHeld(request);
    const askedAt = clock.now();
    say('Normal', 'Pulling', `Pulling image ${JSON.stringify(image)}`);
    try {
      const pull = () => this.#tryLogins(request, name);
      const {startedAt} = await (serialize ? this.#inTurn(pull) : pull());
      const found = await runtime.image(name.reference);
      if (!found) throw new Error(`image ${JSON.stringify(image)} was pulled, but is not there`);
      this.#backoff.forget(backoffKey);
      this.#failedAt.delete(backoffKey);
      const now = clock.now();
      say(
        'Normal',
        'Pulled',
        `Successfully pulled image ${JSON.stringify(image)} in ${goMs(now - startedAt)} (${goMs(now - askedAt)} including waiting). Image size: ${found.size} bytes.`,
      );
      return found;
    } catch (error) {
      const message = `failed to pull image ${JSON.stringify(image)}: ${(error as Error).message}`;
      const now = clock.now();
      this.#backoff.next(backoffKey, now);
      this.#failedAt.set(backoffKey, now);
      this.#messages.set(backoffKey, message);
      say('Warning', 'Failed', `Failed to pull image ${JSON.stringify(image)}: ${(error as Error).message}`);
      // At once, to say that from now on it waits.
      throw new ImageError('ErrImagePull', message, now + sayBackoffAfterMs);
    }
  }

  #refuseHeld({image, say, backoffKey}: ImageRequest): void {
    const failedAt = this.#failedAt.get(backoffKey);
    if (failedAt === undefined) return;
    const held = this.#backoff.held(backoffKey, failedAt);
    if (!held || ageMs(failedAt, this.#options.clock.now()) >= held.delayMs) return;
    const message = `Back-off pulling image ${JSON.stringify(image)}`;
    say('Normal', 'BackOff', message);
    throw new ImageError('ImagePullBackOff', `${message}: ErrImagePull: ${this.#messages.get(backoffKey) ?? ''}`, held.until);
  }

  /** Each login that fits, then none. The last refusal counts. */
  async #tryLogins({secrets, sandbox}: ImageRequest, name: ImageName): Promise<{startedAt: number}> {
    const {runtime, bucket, clock} = this.#options;
    if (bucket && !bucket.tryTake()) throw new Error('pull QPS exceeded');
    const startedAt = clock.now();
    const logins = loginsFor(name, await secrets());
    for (const [index, login] of [...logins, undefined].entries()) {
      try {
        await runtime.pullImage(name.reference, login, sandbox);
        return {startedAt};
      } catch (error) {
        if (index >= Math.max(0, logins.length - 1)) throw error;
      }
    }
    return {startedAt};
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(task, task);
    this.#queue = next.catch(() => {});
    return next;
  }
}

const sayBackoffAfterMs = 2_000;

/** As Go prints it: `45ms`, `1.234s`. */
const goMs = (ms: number): string => (ms < 1000 ? `${ms}ms` : `${Number((ms / 1000).toFixed(3))}s`);
