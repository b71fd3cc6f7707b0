/** The chain of authorizers: the first that has an opinion decides. Roles are in rbac/; that a node may touch its own pods is for `node`. */
import {forbiddenMessage} from './forbidden.ts';
import {type Attributes, type Authorizer, type Decision, mastersGroup} from './user.ts';

const allowed: Decision = {decision: 'allow'};
const undecided: Decision = {decision: 'no opinion'};

/** The group that may do everything: how an administrator gets in when roles are broken. */
export const mastersAuthorizer = {
  authorize: ({user}: Attributes): Decision => (user.groups.includes(mastersGroup) ? allowed : undecided),
} satisfies Authorizer;

export function authorizerChain(authorizers: readonly Authorizer[]): Authorizer {
  return {authorize: (attributes) => ask(authorizers, 0, attributes, [])};
}

/** Stays synchronous as long as every authorizer that is asked does. */
function ask(authorizers: readonly Authorizer[], from: number, attributes: Attributes, reasons: string[]): Decision | Promise<Decision> {
  for (let at = from; at < authorizers.length; at++) {
    const answer = authorizers[at]!.authorize(attributes);
    if (answer instanceof Promise)
      return answer.then((decision) => (settles(decision, reasons) ? decision : ask(authorizers, at + 1, attributes, reasons)));
    if (settles(answer, reasons)) return answer;
  }
  return reasons.length > 0 ? {decision: 'no opinion', reason: reasons.join('\n')} : undecided;
}

function settles({decision, reason}: Decision, reasons: string[]): boolean {
  if (decision !== 'no opinion') return true;
  if (reason) reasons.push(reason);
  return false;
}

/** `--authorization-mode=Node,RBAC`, masters first. The node authorizer is left out until there is one. */
export const createAuthorizer = ({rbac, node}: {rbac: Authorizer; node?: Authorizer}): Authorizer =>
  authorizerChain([mastersAuthorizer, ...(node ? [node] : []), rbac]);

/** @throws StatusError 403 unless the authorizer allows it */
export function requireAllowed(authorizer: Authorizer, attributes: Attributes): Decision | Promise<Decision> {
  const answer = authorizer.authorize(attributes);
  return answer instanceof Promise ? answer.then((decision) => allowOrThrow(attributes, decision)) : allowOrThrow(attributes, answer);
}

function allowOrThrow(attributes: Attributes, decision: Decision): Decision {
  if (decision.decision !== 'allow') throw forbiddenMessage(attributes, decision.reason);
  return decision;
}
