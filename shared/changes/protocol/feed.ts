/** A watch as its ingredients, for those who frame events themselves; what makes one out of a request is registry/feed.ts. */
import type {FeedEvent, Hub} from '../hub.ts';

export interface Feed {
  /** Feeds of one topic give the same lines. */
  topic: string;
  hub: Hub;
  /** The event as an HTTP watch carries it, its end of line included; undefined for a change that does not concern the feed. */
  line(event: FeedEvent): Uint8Array | undefined;
}
