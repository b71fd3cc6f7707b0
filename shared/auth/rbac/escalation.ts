/**
 * Nobody hands out more than they have: a role may hold only rules that its writer holds, a binding may name only a role whose rules
 * its writer holds, unless the verbs `escalate` and `bind` say otherwise.
 */
import {failure, notFound, type StatusError} from '../../errors.ts';
import {goQuote} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {type Authorizer, mastersGroup, type UserInfo} from '../user.ts';
import type {RbacIndex, RoleRef} from './rbac-index.ts';
import {compact, describeRule, type PolicyRule, quoteList, uncovered} from './rules.ts';

export interface EscalationCheck {
  user: UserInfo;
  authorizer: Authorizer;
  rbac: RbacIndex;
  resource: {group: string; resource: string};
  object: KubeObject;
  /** What is being replaced; absent for a create. */
  old?: KubeObject;
  /** The name in the URL: none when an object is posted to its collection. Taken from `old` when left out. */
  requestName?: string;
}

const fullAuthority: readonly PolicyRule[] = [
  {verbs: ['*'], apiGroups: ['*'], resources: ['*']},
  {verbs: ['*'], nonResourceURLs: ['*']},
];

/** @throws StatusError 403 that lists what the user lacks; 404 when the role to be bound does not exist */
export async function checkEscalation(check: EscalationCheck): Promise<void> {
  const {user, resource} = check;
  if (user.groups.includes(mastersGroup)) return;
  if (resource.resource === 'roles' || resource.resource === 'clusterroles') await checkRole(check);
  else if (resource.resource === 'rolebindings' || resource.resource === 'clusterrolebindings') await checkBinding(check);
}

async function checkRole(check: EscalationCheck): Promise<void> {
  const {object, old} = check;
  if (await mayEscalate(check)) return;
  if (old && changesOnlyGarbageCollection(object, old)) return;
  refuseUncovered(check, object['rules'] ?? []);
  // An aggregated role may come to hold anything.
  if ((aggregates(object) || (old && aggregates(old))) && missing(check, fullAuthority).length > 0)
    throw forbid(check, 'must have cluster-admin privileges to use the aggregationRule');
}

async function checkBinding(check: EscalationCheck): Promise<void> {
  const {rbac, resource, object, old} = check;
  if (old && changesOnlyGarbageCollection(object, old)) return;
  const roleRef: RoleRef = object['roleRef'] ?? {apiGroup: '', kind: '', name: ''};
  if (await mayBind(check, roleRef)) return;
  const rules = rbac.rulesOf(roleRef, namespaceOf(check));
  if (typeof rules !== 'string') refuseUncovered(check, rules);
  // The reference names the role by the resource of the request. A kind that is no role is for validation to refuse.
  else if (roleRef.kind === 'Role' || roleRef.kind === 'ClusterRole') throw notFound(resource, roleRef.name);
}

const namespaceOf = ({object}: EscalationCheck): string => object.metadata.namespace ?? '';

async function mayEscalate(check: EscalationCheck): Promise<boolean> {
  const {authorizer, resource, old, requestName} = check;
  const name = requestName ?? old?.metadata.name ?? '';
  const {decision} = await authorizer.authorize({
    ...asked(check),
    verb: 'escalate',
    apiGroup: resource.group,
    resource: resource.resource,
    name,
  });
  return decision === 'allow';
}

async function mayBind(check: EscalationCheck, {apiGroup, kind, name}: RoleRef): Promise<boolean> {
  const resource = kind === 'Role' ? 'roles' : kind === 'ClusterRole' ? 'clusterroles' : undefined;
  if (!resource) return false;
  const {decision} = await check.authorizer.authorize({...asked(check), verb: 'bind', apiGroup, resource, name});
  return decision === 'allow';
}

const asked = (check: EscalationCheck) => ({
  user: check.user,
  isResourceRequest: true,
  namespace: namespaceOf(check),
  apiVersion: '*',
  subresource: '',
  path: '',
});

const aggregates = (role: KubeObject): boolean => (role['aggregationRule']?.clusterRoleSelectors?.length ?? 0) > 0;

function missing(check: EscalationCheck, wanted: readonly PolicyRule[]): PolicyRule[] {
  const held = check.rbac.grantsFor(check.user, namespaceOf(check)).grants.map((grant) => grant.rule);
  return uncovered(held, wanted);
}

function refuseUncovered(check: EscalationCheck, wanted: readonly PolicyRule[]): void {
  const lacking = compact(missing(check, wanted));
  if (lacking.length === 0) return;
  const {user, rbac} = check;
  const lines = [...new Set(lacking.map(describeRule))].sort();
  const {errors} = rbac.grantsFor(user, namespaceOf(check));
  const unresolved = errors.length > 0 ? `; resolution errors: [${errors.join(', ')}]` : '';
  const who = `user ${goQuote(user.name)} (groups=${quoteList(user.groups)})`;
  throw forbid(check, `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${unresolved}`);
}

function forbid({resource: {group, resource}, object, old}: EscalationCheck, why: string): StatusError {
  // A generated name is not told: in the reference the object has none yet.
  const name = object.metadata.generateName && !old ? undefined : object.metadata.name;
  const about = `${resource}.${group}${name ? ` ${goQuote(name)}` : ''}`;
  return failure(403, 'Forbidden', `${about} is forbidden: ${why}`, {details: {...(name && {name}), group, kind: resource}});
}

/** The garbage collector edits owners and finalizers of roles that it could not grant itself. */
function changesOnlyGarbageCollection(object: KubeObject, old: KubeObject): boolean {
  const rest = ({metadata, ...others}: KubeObject) => {
    const {ownerReferences: _o, finalizers: _f, managedFields: _m, selfLink: _s, resourceVersion: _r, ...kept} = metadata;
    return canonical({...others, metadata: kept});
  };
  return rest(object) === rest(old);
}

/** JSON with sorted keys; what is empty counts as absent. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.entries(inner)
            .filter(([, field]) => field !== null && !(typeof field === 'object' && Object.keys(field as object).length === 0))
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : inner,
  );
