/**
 * May a user do something, by the roles bound to them. A decision is kept per user and question until roles or bindings change: users
 * are compared by identity, as authenticators hand out one object per credential.
 */
import type {Attributes, Authorizer, Decision, UserInfo} from '../user.ts';
import type {Grants, RbacIndex} from './rbac-index.ts';
import {nameMatches, type PolicyRule, ruleMatches} from './rules.ts';

/** Questions kept per user; paths are a stranger's choice, so there must be an end. */
const maxQuestions = 2_048;

interface Known {
  version: number;
  grants: Map<string, Grants>;
  answers: Map<string, Answer>;
}

/** The grants that speak of a question, names left open. */
interface Answer {
  /** Decides when the first of the grants is for every name. */
  always?: Decision;
  grants: readonly {rule: PolicyRule; allow: Decision}[];
  otherwise: Decision;
}

export class RbacAuthorizer implements Authorizer {
  readonly #index: RbacIndex;
  readonly #known = new WeakMap<UserInfo, Known>();

  constructor(index: RbacIndex) {
    this.#index = index;
  }

  authorize(attributes: Attributes): Decision {
    const known = this.#knownOf(attributes.user);
    const question = questionOf(attributes);
    let answer = known.answers.get(question);
    if (!answer) {
      if (known.answers.size >= maxQuestions) known.answers.clear();
      answer = this.#answer(attributes);
      known.answers.set(question, answer);
    }
    if (answer.always) return answer.always;
    for (const {rule, allow} of answer.grants) if (!attributes.isResourceRequest || nameMatches(rule, attributes.name)) return allow;
    return answer.otherwise;
  }

  #answer(attributes: Attributes): Answer {
    const {grants, errors} = this.#grantsOf(attributes);
    const matching = grants
      .filter(({rule}) => ruleMatches(rule, attributes))
      .map(({rule, source}) => ({rule, allow: {decision: 'allow', reason: `RBAC: allowed by ${source}`} as const}));
    const [first] = matching;
    const always = first && (!attributes.isResourceRequest || !first.rule.resourceNames?.length) ? first.allow : undefined;
    return {
      ...(always && {always}),
      grants: matching,
      otherwise: {decision: 'no opinion', ...(errors.length > 0 && {reason: `RBAC: ${aggregate(errors)}`})},
    };
  }

  #grantsOf({user, namespace}: Attributes): Grants {
    const known = this.#knownOf(user);
    let grants = known.grants.get(namespace);
    if (!grants) {
      if (known.grants.size >= maxQuestions) known.grants.clear();
      grants = this.#index.grantsFor(user, namespace);
      known.grants.set(namespace, grants);
    }
    return grants;
  }

  #knownOf(user: UserInfo): Known {
    let known = this.#known.get(user);
    if (known?.version !== this.#index.version) {
      known = {version: this.#index.version, grants: new Map(), answers: new Map()};
      this.#known.set(user, known);
    }
    return known;
  }
}

/**
 * Lengths go first, so that no two questions read the same: reviews take any text for a namespace or verb, and an answer kept for one
 * question must not be found for another.
 */
function questionOf({verb, isResourceRequest, namespace, apiGroup, resource, subresource, path}: Attributes): string {
  return isResourceRequest
    ? `${namespace.length},${apiGroup.length},${resource.length},${subresource.length};${namespace}${apiGroup}${resource}${subresource}${verb}`
    : `-${verb.length};${verb}${path}`;
}

/** Several errors as the reference prints them together: each once. */
function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}
