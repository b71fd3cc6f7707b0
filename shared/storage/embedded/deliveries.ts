/** Who wants to hear of changes. Delivery is a synchronous call: a subscriber that is slow to use what it got buffers by itself. */

import {type Change, type Revision, StoreError, type Subscriber, type Subscription} from '../contract.ts';

export interface Published {
  type: string;
  change: Change;
}

export class Deliveries {
  readonly #byType = new Map<string, Set<Delivery>>();

  add(type: string, from: Revision, subscriber: Subscriber): Delivery {
    const deliveries = this.#byType.get(type) ?? new Set<Delivery>();
    this.#byType.set(type, deliveries);
    const delivery: Delivery = new Delivery(from, subscriber, () => {
      deliveries.delete(delivery);
      if (deliveries.size === 0 && this.#byType.get(type) === deliveries) this.#byType.delete(type);
    });
    deliveries.add(delivery);
    return delivery;
  }

  /** Called once the changes are durable and readable. One array serves all subscribers of a type. */
  publish(published: readonly Published[], through: Revision): void {
    if (this.#byType.size === 0) return;
    const changes = new Map<string, Change[]>();
    for (const {type, change} of published) {
      if (!this.#byType.has(type)) continue;
      const ofType = changes.get(type);
      if (ofType) ofType.push(change);
      else changes.set(type, [change]);
    }
    for (const [type, ofType] of changes)
      for (const delivery of [...(this.#byType.get(type) ?? [])]) if (delivery.live) delivery.deliver(ofType, through);
  }

  endAll(error: StoreError): void {
    for (const deliveries of [...this.#byType.values()]) for (const delivery of [...deliveries]) delivery.end(error);
  }
}

export class Delivery implements Subscription {
  /** Everything up to this was delivered, or was not asked for. Stands still while live and nothing of its type changes. */
  through: Revision;
  /** False while past changes are still being read. */
  live = false;
  closed = false;
  readonly #subscriber: Subscriber;
  readonly #remove: () => void;

  constructor(from: Revision, subscriber: Subscriber, remove: () => void) {
    this.through = from;
    this.#subscriber = subscriber;
    this.#remove = remove;
  }

  deliver(changes: readonly Change[], through: Revision): void {
    if (this.closed || through <= this.through) return;
    // Only a subscriber from the future has changes in a batch that it did not ask for.
    const wanted = changes.length > 0 && changes[0]!.revision <= this.through ? changes.filter((c) => c.revision > this.through) : changes;
    this.through = through;
    this.#tell(wanted, through);
  }

  progress(through: Revision): void {
    if (!this.closed) this.#tell([], through);
  }

  #tell(changes: readonly Change[], through: Revision): void {
    try {
      this.#subscriber.changes(changes, through);
    } catch (cause) {
      // A listener's own failure must reach neither the writer nor the other listeners; it has lost changes, so it ends.
      this.end(new StoreError('Unavailable', 'the subscriber failed', {cause}));
    }
  }

  end(error: StoreError): void {
    if (this.closed) return;
    this.close();
    try {
      this.#subscriber.ended(error);
    } catch {
      // It is gone already.
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#remove();
  }
}
