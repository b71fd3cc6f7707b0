/** TokenReview: whose token is this, and is it meant for these audiences? */
import {badRequest} from '../../errors.ts';
import type {Review} from './review.ts';
import {shownUser} from './user-info.ts';

export const tokenReview: Review = async ({tokens}, review) => {
  const {token = '', audiences} = review['spec'] ?? {};
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const found = await tokens.authenticate(token, audiences?.length ? audiences : undefined);
  review['status'] = {
    ...(found.user && {authenticated: true}),
    user: found.user ? shownUser(found.user) : {},
    ...(found.user && found.audiences?.length && {audiences: found.audiences}),
    ...(found.error && {error: found.error}),
  };
  return review;
};
