/** SubjectAccessReview: may somebody do something? */
import {answer, attributeErrors, metadataErrors, refuse, selectorErrors, subjectErrors, subjectOf} from './access-attributes.ts';
import type {Review} from './review.ts';

export const subjectAccessReview: Review = async ({authorizer}, review) => {
  const {spec} = review;
  refuse([...attributeErrors(spec), ...subjectErrors(spec), ...selectorErrors(spec), ...metadataErrors(review, 'must be empty')]);
  return answer(review, subjectOf(spec), authorizer);
};
