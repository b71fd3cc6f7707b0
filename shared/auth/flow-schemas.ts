/**
 * Which flow a request belongs to: the first FlowSchema, by precedence, that speaks of its user and of what it does. Answers carry the
 * uids that clients see in the X-Kubernetes-Pf headers; nothing is queued by them here.
 */
import type {KubeObject} from '../object.ts';
import type {Attributes, UserInfo} from './user.ts';

export interface Flow {
  flowSchemaUid: string;
  priorityLevelUid: string;
}

interface Subject {
  kind: string;
  user?: {name: string};
  group?: {name: string};
  serviceAccount?: {namespace: string; name: string};
}

interface Rule {
  subjects: readonly Subject[];
  resourceRules?: readonly {
    verbs: readonly string[];
    apiGroups: readonly string[];
    resources: readonly string[];
    clusterScope?: boolean;
    namespaces?: readonly string[];
  }[];
  nonResourceRules?: readonly {verbs: readonly string[]; nonResourceURLs: readonly string[]}[];
}

interface Schema {
  name: string;
  uid: string;
  precedence: number;
  level: string;
  rules: readonly Rule[];
}

/** A rule that speaks of a user, with the flow that it leads to. */
interface Step {
  rule: Rule;
  flow: Flow;
}

export type FlowKind = 'FlowSchema' | 'PriorityLevelConfiguration';

const lowestPrecedence = 10_000;

export class FlowSchemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #levels = new Map<string, string>();
  #stepsByUser = new WeakMap<UserInfo, readonly Step[]>();

  set(kind: FlowKind, object: KubeObject): void {
    this.#stepsByUser = new WeakMap();
    const {name = '', uid = ''} = object.metadata;
    if (kind === 'PriorityLevelConfiguration') {
      this.#levels.set(name, uid);
      return;
    }
    const {matchingPrecedence: precedence = lowestPrecedence, priorityLevelConfiguration, rules} = object['spec'] ?? {};
    this.#schemas.set(name, {name, uid, precedence, level: priorityLevelConfiguration?.name ?? '', rules: rules ?? []});
  }

  delete(kind: FlowKind, name: string): void {
    this.#stepsByUser = new WeakMap();
    (kind === 'FlowSchema' ? this.#schemas : this.#levels).delete(name);
  }

  /** Undefined when no schema matches: the catch-all has not been written yet, or somebody removed it. */
  match(attributes: Attributes): Flow | undefined {
    let steps = this.#stepsByUser.get(attributes.user);
    if (!steps) {
      steps = this.#stepsFor(attributes.user);
      this.#stepsByUser.set(attributes.user, steps);
    }
    for (const {rule, flow} of steps) if (ruleMatches(rule, attributes)) return flow;
    return undefined;
  }

  #stepsFor(user: UserInfo): Step[] {
    const schemas = [...this.#schemas.values()].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1));
    return schemas.flatMap(({uid, level, rules}) => {
      const flow = {flowSchemaUid: uid, priorityLevelUid: this.#levels.get(level) ?? ''};
      return rules.filter((rule) => rule.subjects.some((subject) => speaksOf(subject, user))).map((rule) => ({rule, flow}));
    });
  }
}

function speaksOf({kind, user, group, serviceAccount}: Subject, {name, groups}: UserInfo): boolean {
  if (kind === 'User') return user !== undefined && (user.name === '*' || user.name === name);
  if (kind === 'Group') return group !== undefined && (group.name === '*' || groups.includes(group.name));
  if (kind !== 'ServiceAccount' || !serviceAccount) return false;
  const accounts = `system:serviceaccount:${serviceAccount.namespace}:`;
  return serviceAccount.name === '*' ? name.startsWith(accounts) : name === accounts + serviceAccount.name;
}

function ruleMatches(rule: Rule, attributes: Attributes): boolean {
  const {verb, apiGroup, namespace, path} = attributes;
  if (!attributes.isResourceRequest)
    return (rule.nonResourceRules ?? []).some(
      ({verbs, nonResourceURLs}) => holds(verbs, verb) && nonResourceURLs.some((url) => leadsTo(url, path)),
    );
  const resource = attributes.subresource ? `${attributes.resource}/${attributes.subresource}` : attributes.resource;
  return (rule.resourceRules ?? []).some(
    (of) =>
      holds(of.verbs, verb) &&
      holds(of.resources, resource) &&
      holds(of.apiGroups, apiGroup) &&
      (namespace === '' ? of.clusterScope === true : holds(of.namespaces ?? [], namespace)),
  );
}

/** Validation sees to it that a star stands alone. */
const holds = (list: readonly string[], wanted: string): boolean => (list.length === 1 && list[0] === '*') || list.includes(wanted);

/** `/healthz` also stands for what is below it. */
function leadsTo(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  const prefix = url.replace(/\*$/, '');
  return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}
