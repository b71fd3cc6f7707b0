/** Waiting for a revision that a client knows of and this server does not, yet. */
import {futureRevisionWaitMs} from '../limits.ts';
import type {Revision, Subscription} from '../storage/contract.ts';
import type {Machine} from './context.ts';

/** Resolves with the head: as soon as it reaches `wanted`, or where it stands when the time is up. */
export async function waitForRevision({store, clock}: Pick<Machine, 'store' | 'clock'>, type: string, wanted: Revision): Promise<Revision> {
  const head = await store.head(type);
  if (head >= wanted) return head;
  let subscription: Subscription | undefined;
  let cancel = () => {};
  await new Promise<void>((resolve) => {
    cancel = clock.after(futureRevisionWaitMs, resolve);
    const arrived = (through: Revision) => through >= wanted && resolve();
    store.subscribe(type, head, {changes: (_changes, through) => arrived(through), ended: () => resolve()}).then((opened) => {
      subscription = opened;
    }, resolve);
  });
  cancel();
  subscription?.close();
  return store.head(type);
}
