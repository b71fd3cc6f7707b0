/** What expires: history that is older than is promised, and Events an hour after they were last written. */
import type {Log} from '../api.ts';
import type {Client} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {isReason} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {Store} from '../storage/contract.ts';
import {Rounds} from './rounds.ts';

const eventTtlMs = 3_600_000;
/** Expiry is looked after this often; nothing depends on it being exact. */
const intervalMs = 60_000;
const pageItems = 500;

export class Retention extends Rounds {
  readonly #options: {store: Store; client: Client; clock: Clock; log: Log; historyMs: number};

  constructor(options: {store: Store; client: Client; clock: Clock; log: Log; historyMs: number}) {
    super(options, 'retention', intervalMs);
    this.#options = options;
  }

  async run(): Promise<void> {
    const {store, clock, historyMs} = this.#options;
    await this.#expireEvents(clock.now() - eventTtlMs);
    if (store.maintain) await store.maintain();
    else await store.compactBefore(clock.now() - historyMs);
  }

  async #expireEvents(before: number): Promise<void> {
    const {store, client} = this.#options;
    let after: string | undefined;
    for (;;) {
      const page = await store.scan('events', {prefix: '', limit: pageItems, ...(after !== undefined && {after})});
      for (const item of page.items) {
        const event: KubeObject = JSON.parse(Buffer.from(item.image).toString());
        if (lastWritten(event) >= before) continue;
        const {name = '', namespace, uid, resourceVersion} = event.metadata;
        try {
          await client.delete({groupVersion: 'v1', resource: 'events', namespace}, name, {preconditions: {uid, resourceVersion}});
        } catch (error) {
          if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
        }
      }
      after = page.items[page.items.length - 1]?.key;
      if (!page.more || after === undefined) return;
    }
  }
}

/** The newest time that the event names, ms since the epoch. */
function lastWritten(event: KubeObject): number {
  const times = [event.metadata.creationTimestamp, event['lastTimestamp'], event['eventTime'], event['series']?.lastObservedTime];
  return Math.max(0, ...times.filter((time): time is string => typeof time === 'string').map((time) => Date.parse(time)));
}
