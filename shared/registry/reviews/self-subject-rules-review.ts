/** SelfSubjectRulesReview: all that I may do in a namespace, as rules. */
import {badRequest} from '../../errors.ts';
import type {PolicyRule, Review} from './review.ts';

export const selfSubjectRulesReview: Review = async ({user, rules: resolver}, {kind, apiVersion, spec}) => {
  const namespace = spec?.namespace ?? '';
  if (namespace === '') throw badRequest('no namespace on request');
  const {rules, errors} = resolver.rulesFor(user, namespace);
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
