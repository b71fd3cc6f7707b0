/**
 * Roles and bindings, indexed by whom they speak of, so that a decision looks only at the grants of its user. Fed with the objects as
 * they change; what follows from them is kept per user until the next change. Decisions are in rbac-authorizer.ts.
 */
import type {KubeObject, ObjectMeta} from '../../object.ts';
import {selectorFromObject} from '../../selector/labels.ts';
import type {UserInfo} from '../user.ts';
import type {PolicyRule} from './rules.ts';

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

interface Role {
  metadata: ObjectMeta;
  rules: readonly PolicyRule[];
  aggregation?: readonly object[];
}

interface Binding {
  name: string;
  namespace: string;
  roleRef: RoleRef;
  subjects: readonly Subject[];
}

/** One rule that a user has, with the binding and role it comes through, in the reference's words. */
export interface Grant {
  rule: PolicyRule;
  source: string;
}

export interface Grants {
  /** In the order in which they are tried. */
  grants: readonly Grant[];
  /** Bindings whose role cannot be found. */
  errors: readonly string[];
}

export type RbacKind = 'ClusterRole' | 'Role' | 'ClusterRoleBinding' | 'RoleBinding';

const rolePlurals: Record<string, string> = {ClusterRole: 'clusterrole', Role: 'role'};

export class RbacIndex {
  /** Grows with every change: what was derived under another version is stale. */
  version = 0;
  readonly #roles = new Map<string, Role>();
  readonly #clusterRoles = new Map<string, Role>();
  /** By namespace, the empty one for cluster role bindings, then by who is named. */
  readonly #bindings = new Map<string, Map<string, Binding>>();
  readonly #bySubject = new Map<string, Set<Binding>>();
  /** What aggregated roles gather, until a cluster role changes. */
  readonly #gatheredBy = new Map<string, PolicyRule[]>();

  /** `key` as in the store: `namespace/name`, or `name`. Taken from the object when left out. */
  set(kind: RbacKind, object: KubeObject, key = keyOf(object)): void {
    this.version++;
    if (kind === 'ClusterRole') this.#gatheredBy.clear();
    if (kind === 'ClusterRole' || kind === 'Role') {
      const selectors = object['aggregationRule']?.clusterRoleSelectors;
      const role: Role = {metadata: object.metadata, rules: object['rules'] ?? [], ...(selectors?.length && {aggregation: selectors})};
      (kind === 'Role' ? this.#roles : this.#clusterRoles).set(key, role);
      return;
    }
    this.#removeBinding(key);
    const {name = '', namespace = ''} = object.metadata;
    const binding: Binding = {name, namespace, roleRef: object['roleRef'], subjects: object['subjects'] ?? []};
    const bindings = this.#bindings.get(namespace) ?? new Map<string, Binding>();
    bindings.set(name, binding);
    this.#bindings.set(namespace, bindings);
    for (const subject of binding.subjects) {
      const who = subjectKey(namespace, subject);
      const named = this.#bySubject.get(who);
      if (named) named.add(binding);
      else this.#bySubject.set(who, new Set([binding]));
    }
  }

  delete(kind: RbacKind, key: string): void {
    this.version++;
    if (kind === 'ClusterRole') {
      this.#gatheredBy.clear();
      this.#clusterRoles.delete(key);
    } else if (kind === 'Role') this.#roles.delete(key);
    else this.#removeBinding(key);
  }

  #removeBinding(key: string): void {
    const slash = key.indexOf('/');
    const namespace = slash < 0 ? '' : key.slice(0, slash);
    const binding = this.#bindings.get(namespace)?.get(key.slice(slash + 1));
    if (!binding) return;
    this.#bindings.get(namespace)!.delete(binding.name);
    for (const subject of binding.subjects) {
      const who = subjectKey(namespace, subject);
      const named = this.#bySubject.get(who);
      named?.delete(binding);
      if (named?.size === 0) this.#bySubject.delete(who);
    }
  }

  /** Everything that `user` may do in `namespace` (empty: cluster-wide). */
  grantsFor(user: UserInfo, namespace: string): Grants {
    const grants: Grant[] = [];
    const errors: string[] = [];
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      for (const binding of this.#bindingsOf(user, scope)) {
        const rules = this.rulesOf(binding.roleRef, scope);
        if (typeof rules === 'string') errors.push(rules);
        else {
          const source = describe(binding, binding.subjects.find((subject) => speaksOf(subject, user, scope))!);
          for (const rule of rules) grants.push({rule, source});
        }
      }
    }
    return {grants, errors};
  }

  /** The reference tries them in no order at all; ours is fixed, so that equal questions get equal reasons. */
  #bindingsOf(user: UserInfo, namespace: string): Binding[] {
    const found = new Set<Binding>(this.#bySubject.get(`${namespace}\0u\0${user.name}`));
    for (const group of user.groups) for (const binding of this.#bySubject.get(`${namespace}\0g\0${group}`) ?? []) found.add(binding);
    return [...found].sort((a, b) => (a.name < b.name ? 1 : -1));
  }

  /** The rules of a role, or why there are none. */
  rulesOf({kind, name}: RoleRef, namespace: string): readonly PolicyRule[] | string {
    const role = kind === 'Role' ? this.#roles.get(`${namespace}/${name}`) : kind === 'ClusterRole' ? this.#clusterRoles.get(name) : null;
    if (role === null) return `unsupported role reference kind: ${JSON.stringify(kind)}`;
    if (!role) return `${rolePlurals[kind]}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
    return role.aggregation ? this.aggregatedRules(name)! : role.rules;
  }

  /** What an aggregated cluster role gathers; undefined when it is not one. */
  aggregatedRules(name: string): PolicyRule[] | undefined {
    const selectors = this.#clusterRoles.get(name)?.aggregation;
    if (!selectors) return undefined;
    const rules = this.#gatheredBy.get(name) ?? this.#gathered(selectors, new Set([name]));
    this.#gatheredBy.set(name, rules);
    return rules;
  }

  /**
   * The rules of all cluster roles that a selector finds, selector by selector in order of name, doubles removed. A chosen role may
   * gather in turn (view into edit into admin): `path` ends a circle where it began.
   */
  #gathered(selectors: readonly object[], path: ReadonlySet<string>): PolicyRule[] {
    const rules = new Map<string, PolicyRule>();
    const names = [...this.#clusterRoles.keys()].sort();
    for (const selector of selectors) {
      const matches = selectorFromObject(selector);
      for (const name of names) {
        const role = this.#clusterRoles.get(name)!;
        if (path.has(name) || !matches(role.metadata.labels ?? {})) continue;
        const chosen = role.aggregation ? this.#gathered(role.aggregation, new Set(path).add(name)) : role.rules;
        for (const rule of chosen) {
          const text = JSON.stringify(rule);
          if (!rules.has(text)) rules.set(text, rule);
        }
      }
    }
    return [...rules.values()];
  }
}

const keyOf = ({metadata}: KubeObject): string => (metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name!);

const serviceAccountName = (subject: Subject, namespace: string): string =>
  `system:serviceaccount:${subject.namespace || namespace}:${subject.name}`;

function subjectKey(namespace: string, subject: Subject): string {
  if (subject.kind === 'Group') return `${namespace}\0g\0${subject.name}`;
  if (subject.kind === 'ServiceAccount') return `${namespace}\0u\0${serviceAccountName(subject, namespace)}`;
  return `${namespace}\0${subject.kind === 'User' ? 'u' : '-'}\0${subject.name}`;
}

function speaksOf(subject: Subject, user: UserInfo, namespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.name;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  return subject.kind === 'ServiceAccount' && serviceAccountName(subject, namespace) === user.name;
}

function describe(binding: Binding, subject: Subject): string {
  // Name before namespace: the reference's own order.
  const [kind, name] = binding.namespace ? ['RoleBinding', `${binding.name}/${binding.namespace}`] : ['ClusterRoleBinding', binding.name];
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || binding.namespace}` : subject.name;
  const quoted = [name, binding.roleRef.name, who].map((text) => JSON.stringify(text));
  return `${kind} ${quoted[0]} of ${binding.roleRef.kind} ${quoted[1]} to ${subject.kind} ${quoted[2]}`;
}
