/** LocalSubjectAccessReview: may somebody do something in this namespace? Who may ask is a right of the namespace's own. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {
  answer,
  attributeErrors,
  metadataErrors,
  printedNonResource,
  refuse,
  selectorErrors,
  subjectErrors,
  subjectOf,
} from './access-attributes.ts';
import type {Review} from './review.ts';

export const localSubjectAccessReview: Review = async ({authorizer}, review) => {
  const {spec} = review;
  refuse([
    ...attributeErrors(spec),
    ...subjectErrors(spec),
    ...selectorErrors(spec),
    ...metadataErrors(review, 'must be empty except for namespace', ['namespace']),
    ...scopeErrors(review),
  ]);
  return answer(review, subjectOf(spec), authorizer);
};

function scopeErrors({metadata, spec: {resourceAttributes, nonResourceAttributes}}: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = resourceAttributes?.namespace ?? '';
  if (resourceAttributes && namespace !== (metadata.namespace ?? ''))
    errors.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
  if (nonResourceAttributes)
    errors.push(invalid('spec.nonResourceAttributes', printedNonResource(nonResourceAttributes), 'disallowed on this kind of request'));
  return errors;
}
