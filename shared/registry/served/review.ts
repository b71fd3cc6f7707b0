/** What the function `review` serves: kinds that are asked, not kept. */
import type {Handler} from '../context.ts';

export const reviewing = {create: (context) => context.machine.reviews.review(context)} satisfies Record<string, Handler>;
