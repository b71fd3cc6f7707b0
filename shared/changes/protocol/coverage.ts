/**
 * Where a frame may say that it begins, for a sender that reads the log in pages and asks, for each page, who subscribes (after it has
 * read the page). A frame claims that everything of its topic in `(from, to]` is in it. `last`, the revision last sent on the topic, is
 * no proof of that: while nobody subscribed nothing was sent, and a client that comes back to where it was would take the frame for
 * complete and pass over what happened meanwhile.
 */
import type {Revision} from '../../storage/contract.ts';

/**
 * `since`, of each subscription to the topic: the head of the log as read *after* the subscription could be found by senders; undefined
 * until that is known. From then on every page was read with somebody subscribed, so what concerned the topic was sent, and `last` is true.
 */
export function coveredFrom(pageStart: Revision, last: Revision | undefined, since: readonly (Revision | undefined)[]): Revision {
  const known = since.filter((revision) => revision !== undefined);
  if (known.length === 0) return pageStart;
  // Never beyond the page that is about to be sent: its own changes are all at hand.
  return Math.min(pageStart, Math.max(last ?? 0, Math.min(...known)));
}
