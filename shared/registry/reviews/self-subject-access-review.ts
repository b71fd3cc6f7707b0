/** SelfSubjectAccessReview: may I do something? */
import {answer, attributeErrors, metadataErrors, refuse, selectorErrors} from './access-attributes.ts';
import type {Review} from './review.ts';

export const selfSubjectAccessReview: Review = async ({authorizer, user}, review) => {
  const {spec} = review;
  refuse([...attributeErrors(spec), ...selectorErrors(spec), ...metadataErrors(review, 'must be empty')]);
  return answer(review, user, authorizer);
};
