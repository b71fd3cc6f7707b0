import {Reviews} from '../shared/registry/reviews/reviews.ts';
import {creating} from '../shared/registry/served/create.ts';
import {writing} from '../shared/registry/served/writing.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('create', () => ({
  handlers: creating,
  ...writing,
  // Tokens of service accounts are created.
  reviews: (services) => new Reviews(services),
}));
