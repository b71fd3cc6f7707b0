/** Which FlowSchema a request falls under, said in the headers that clients and people read. Queuing by it is not built yet. */
import type {Attributes, UserInfo} from '../auth/user.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {KubeObject} from '../object.ts';

interface Schema {
  name: string;
  precedence: number;
  uid: string;
  level: string;
  rules: Rule[];
}

interface Rule {
  subjects?: {kind: string; user?: {name: string}; group?: {name: string}; serviceAccount?: {namespace: string; name: string}}[];
  resourceRules?: {verbs: string[]; apiGroups: string[]; resources: string[]; clusterScope?: boolean; namespaces?: string[]}[];
  nonResourceRules?: {verbs: string[]; nonResourceURLs: string[]}[];
}

export class FlowControl {
  readonly #schemas = new Map<string, Schema>();
  readonly #levels = new Map<string, string>();
  #sorted: Schema[] = [];
  /** Answers by user and kind of request; emptied when a schema changes. */
  #known = new WeakMap<UserInfo, Map<string, Record<string, string>>>();

  async follow(caches: ObjectCaches): Promise<void> {
    const [schemas, levels] = await Promise.all([
      caches.of('flowschemas.flowcontrol.apiserver.k8s.io'),
      caches.of('prioritylevelconfigurations.flowcontrol.apiserver.k8s.io'),
    ]);
    levels.onChange((name, object) => {
      if (object) this.#levels.set(name, object.metadata.uid ?? '');
      else this.#levels.delete(name);
      this.#known = new WeakMap();
    });
    schemas.onChange((name, object) => {
      if (object) this.#schemas.set(name, schemaOf(name, object));
      else this.#schemas.delete(name);
      this.#sorted = [...this.#schemas.values()].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1));
      this.#known = new WeakMap();
    });
  }

  headers(attributes: Attributes): Record<string, string> | undefined {
    const {user, verb, apiGroup, resource, namespace, path, isResourceRequest} = attributes;
    const question = isResourceRequest ? `${verb} ${apiGroup}/${resource} ${namespace}` : `${verb} ${path}`;
    let known = this.#known.get(user);
    if (!known || known.size > 1_000) {
      known = new Map();
      this.#known.set(user, known);
    }
    let answer = known.get(question);
    if (!answer) {
      const schema = this.#sorted.find((each) => each.rules.some((rule) => applies(rule, attributes)));
      if (!schema) return undefined;
      answer = {'x-kubernetes-pf-flowschema-uid': schema.uid, 'x-kubernetes-pf-prioritylevel-uid': this.#levels.get(schema.level) ?? ''};
      known.set(question, answer);
    }
    return answer;
  }
}

const schemaOf = (name: string, {metadata, spec}: KubeObject): Schema => ({
  name,
  precedence: spec?.matchingPrecedence ?? 0,
  uid: metadata.uid ?? '',
  level: spec?.priorityLevelConfiguration?.name ?? '',
  rules: spec?.rules ?? [],
});

function applies({subjects, resourceRules, nonResourceRules}: Rule, attributes: Attributes): boolean {
  const {user, verb, isResourceRequest, apiGroup, resource, subresource, namespace, path} = attributes;
  const named = subjects?.some((subject) => {
    if (subject.kind === 'User') return subject.user?.name === '*' || subject.user?.name === user.name;
    if (subject.kind === 'Group') return subject.group?.name === '*' || user.groups.includes(subject.group?.name ?? '');
    const account = subject.serviceAccount;
    if (!account) return false;
    return account.name === '*'
      ? user.name.startsWith(`system:serviceaccount:${account.namespace}:`)
      : user.name === `system:serviceaccount:${account.namespace}:${account.name}`;
  });
  if (!named) return false;
  const has = (list: readonly string[] | undefined, value: string) => list?.includes('*') || list?.includes(value) || false;
  if (!isResourceRequest)
    return (
      nonResourceRules?.some(
        (rule) =>
          has(rule.verbs, verb) &&
          rule.nonResourceURLs.some((url) => url === '*' || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1)))),
      ) ?? false
    );
  const what = subresource ? `${resource}/${subresource}` : resource;
  return (
    resourceRules?.some(
      (rule) =>
        has(rule.verbs, verb) &&
        has(rule.apiGroups, apiGroup) &&
        has(rule.resources, what) &&
        (namespace ? has(rule.namespaces, namespace) : rule.clusterScope === true),
    ) ?? false
  );
}
