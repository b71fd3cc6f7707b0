import {Reviews} from '../shared/registry/reviews/reviews.ts';
import {reviewing} from '../shared/registry/served/review.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('review', () => ({handlers: reviewing, reviews: (services) => new Reviews(services)}));
