/** SelfSubjectRulesReview: all that I may do in a namespace, as rules. */
import {badRequest} from '../../errors.ts';
import type {PolicyRule, Review} from './review.ts';

export const selfSubjectRulesReview: Review = async ({user, rbac}, {kind, apiVersion, spec}) => {
  const namespace = spec?.namespace ?? '';
  if (namespace === '') throw badRequest('no namespace on request');
  const {grants, errors} = rbac.grantsFor(user, namespace);
  const rules = grants.map((grant) => grant.rule);
  const distinct = [...new Set(errors)];
  return {
    kind,
    apiVersion,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
      nonResourceRules: rules.filter((rule) => rule.nonResourceURLs?.length).map(({verbs, nonResourceURLs}) => ({verbs, nonResourceURLs})),
      incomplete: false,
      ...(distinct.length > 0 && {evaluationError: distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`}),
    },
  };
};

const resourceRule = ({verbs, apiGroups, resources, resourceNames}: PolicyRule) => ({
  verbs,
  ...(apiGroups?.length && {apiGroups}),
  resources,
  ...(resourceNames?.length && {resourceNames}),
});
