/**
 * The route table as API Gateway wants it: a tree of path parts, methods at its nodes. Pure data; ./rest-api.ts makes resources of it.
 *
 * A node has at most one parameter among its children (AWS), a literal hides the parameter beside it, and what matches a node that lacks
 * the method is answered by the gateway itself. So literals take along the rows of what they hide, and the row for the rest is mounted at
 * every node and below every leaf.
 */
import {connections, type Route} from '../shared/http/routes.ts';

export interface Node {
  /** `pods`, `{name}`, `{path+}`; empty at the root. */
  part: string;
  path: string;
  /** By method; `*` takes the others. */
  rows: Map<Route['method'], Route>;
  children: Map<string, Node>;
}

/** Subresources of a namespace: behind its name, everything else is a resource in it. */
const namespaceSubresources = ['status', 'finalize'];
/** Groups that a row names have discovery too. */
const groupParameter = '{group}';

export function resourceTree(routes: readonly Route[]): Node {
  const root = node('', '');
  const groups = [groupParameter, ...new Set(routes.map(({path}) => /^\/apis\/([a-z][^/{]*)/.exec(path)?.[1] ?? groupParameter))];
  let rest: Route | undefined;
  for (const row of routes) {
    if (row.path === '/{path+}') rest = row;
    else for (const path of pathsOf(row.path, [...new Set(groups)])) mount(root, path, row);
  }
  if (rest) mountRest(root, rest);
  return root;
}

/** Every path that a row stands for. */
export function pathsOf(path: string, groups: readonly string[] = [groupParameter]): string[] {
  if (path.startsWith('{scope}'))
    return ['/api/{version}', '/apis/{group}/{version}'].flatMap((root) => scoped(root, path.slice('{scope}'.length)));
  if (path === '/apis/{group}' || path === '/apis/{group}/{version}') return groups.map((group) => path.replace(groupParameter, group));
  if (path.endsWith('{connection}')) return connections.map((name) => path.replace('{connection}', name));
  return [path];
}

function scoped(root: string, tail: string): string[] {
  // Old clients say what to do before they say where: /api/v1/watch/namespaces/x/pods.
  const marker = tail.startsWith('/watch/') ? '/watch' : '';
  const rest = tail.slice(marker.length);
  const paths = ['', '/namespaces/{namespace}'].map((scope) => `${root}${marker}${scope}${rest}`);
  // Namespaces are resources themselves, and a literal where the others are a parameter.
  if (root === '/api/{version}') paths.push(...ofNamespaces(rest).map((own) => `${root}${marker}${own}`));
  return paths;
}

function ofNamespaces(rest: string): string[] {
  if (rest === '/{resource}') return ['/namespaces'];
  if (rest === '/{resource}/{name}') return ['/namespaces/{namespace}'];
  if (rest === '/{resource}/{name}/{subresource}') return namespaceSubresources.map((name) => `/namespaces/{namespace}/${name}`);
  return [];
}

function mount(root: Node, path: string, row: Route): void {
  let at = root;
  for (const part of path.split('/').filter(Boolean)) at = child(at, part);
  if (at.rows.has(row.method)) throw new Error(`two rows for ${row.method} ${path}`);
  at.rows.set(row.method, row);
}

function child(parent: Node, part: string): Node {
  const known = parent.children.get(part);
  if (known) return known;
  if (part.startsWith('{')) {
    const other = parameterOf(parent);
    if (other) throw new Error(`${parent.path} has ${other.part} already, so it cannot have ${part}`);
  }
  const made = node(part, `${parent.path}/${part}`);
  parent.children.set(part, made);
  return made;
}

const node = (part: string, path: string): Node => ({part, path, rows: new Map(), children: new Map()});

const parameterOf = ({children}: Node): Node | undefined => [...children.values()].find(({part}) => part.startsWith('{'));
const isGreedy = ({part}: Node): boolean => part.endsWith('+}');

function mountRest(at: Node, row: Route): void {
  for (const each of [...at.children.values()]) mountRest(each, row);
  if (!at.rows.has('*')) at.rows.set('*', row);
  if (!isGreedy(at) && !parameterOf(at)) child(at, '{path+}').rows.set('*', row);
}

export function* nodesOf(at: Node): Generator<Node> {
  yield at;
  for (const each of at.children.values()) yield* nodesOf(each);
}
