/** Which operations a group version offers, from its resources: paths, parameters, bodies and answers, in neither version's notation. */
import {qualified} from '../../errors.ts';
import type {GroupVersionKind} from '../../object.ts';
import type {ServedVersion} from '../../registry/catalogue.ts';
import {type StructType, typeByKind} from '../../schema/types.ts';
import {patchRef} from './definitions.ts';
import {answersWithObject} from './markers.ts';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'boolean' | 'integer';
}

export interface Operation {
  method: Method;
  operationId: string;
  tag: string;
  parameters: readonly Parameter[];
  /** Reference of the body's type, and what media types it may come in. */
  body?: {ref: string; required: boolean; mediaTypes: readonly string[]};
  consumes: readonly string[];
  produces: readonly string[];
  /** By code: reference of a type, `string`, or nothing. */
  responses: readonly (readonly [code: number, of: string | undefined])[];
  action?: string;
  gvk?: GroupVersionKind;
}

/** Operations of one path. */
export type Paths = Map<string, Operation[]>;
type Row = ServedVersion['rows'][number];

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';
const plain = [json, yaml, protobuf];
const streaming = [...plain, `${json};stream=watch`, `${protobuf};stream=watch`];
const anything = ['*/*'];
const patches = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'].map(
  (kind) => `application/${kind}`,
);

const query = (type: Parameter['type'], ...names: string[]): Parameter[] => names.map((name) => ({name, in: 'query', type}));
const inPath = (name: string): Parameter => ({name, in: 'path', type: 'string'});

const pretty = query('string', 'pretty');
const listOptions = [
  ...query('boolean', 'allowWatchBookmarks', 'sendInitialEvents', 'watch'),
  ...query('string', 'continue', 'fieldSelector', 'labelSelector', 'resourceVersion', 'resourceVersionMatch', 'shardSelector'),
  ...query('integer', 'limit', 'timeoutSeconds'),
];
const writeOptions = query('string', 'dryRun', 'fieldManager', 'fieldValidation');
const deleteOptions = [
  ...query('string', 'dryRun', 'propagationPolicy'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
];
const deleteCollectionOptions = [...listOptions.filter(({name}) => name !== 'allowWatchBookmarks' && name !== 'watch'), ...deleteOptions];

const camel = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `rbac.authorization.k8s.io` as `RbacAuthorization`, the core group as `Core`. */
export const groupWord = (group: string): string =>
  group === ''
    ? 'Core'
    : group
        .replace(/\.k8s\.io$/, '')
        .split('.')
        .map(camel)
        .join('');

export const tagOf = (group: string): string => {
  const word = groupWord(group);
  return word.charAt(0).toLowerCase() + word.slice(1);
};

/** What discovery and the like answer with. */
export function documentOperation(
  operationId: string,
  tag: string,
  ref: string | undefined,
  produces: readonly string[] = plain,
): Operation {
  const of = ref ?? 'string';
  return {
    method: 'get',
    operationId,
    tag,
    parameters: [],
    consumes: produces === plain ? plain : ref === undefined ? [] : produces,
    produces,
    responses: [
      [200, of],
      [401, undefined],
    ],
  };
}

export function pathsOf(group: string, served: ServedVersion): Paths {
  const {version} = served;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const words = `${groupWord(group)}${camel(version)}`;
  const tag = `${tagOf(group)}_${version}`;
  const paths: Paths = new Map();
  paths.set(`${root}/`, [documentOperation(`get${words}APIResources`, tag, 'meta/v1.APIResourceList')]);
  const kinds = new Map(served.rows.map((row) => [row.name, row.kind]));

  for (const row of served.rows) {
    const [resource, subresource] = row.name.split('/') as [string, string | undefined];
    const gvk: GroupVersionKind = {group: row.group ?? group, version: row.version ?? version, kind: row.kind};
    const scope = row.namespaced ? 'Namespaced' : '';
    const inNamespace = row.namespaced ? [inPath('namespace')] : [];
    const base = row.namespaced ? `/namespaces/{namespace}/${resource}` : `/${resource}`;
    const of = `${words}${scope}${kinds.get(resource) ?? row.kind}${subresource ? camel(subresource) : ''}`;
    const add = (path: string, operation: Omit<Operation, 'tag' | 'gvk'>) => {
      const list = paths.get(root + path);
      if (list) list.push({...operation, tag, gvk});
      else paths.set(root + path, [{...operation, tag, gvk}]);
    };
    if (subresource === undefined) addResource(add, row, {words, of, base, inNamespace, gvk, group, resource});
    else {
      const item = `${base}/{name}/${subresource}`;
      const parameters = [inPath('name'), ...inNamespace];
      if (row.kind.endsWith('Options'))
        addConnect(add, row, gvk, item, parameters, words, `${scope}${kinds.get(resource)}${camel(subresource)}`);
      else if (row.name === 'pods/log') addLog(add, item, parameters, of);
      else addItem(add, row, gvk, item, [...parameters, ...pretty], of, false);
    }
  }
  return new Map([...paths].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Add = (path: string, operation: Omit<Operation, 'tag' | 'gvk'>) => void;

interface Place {
  words: string;
  /** As operation ids name it: `AppsV1NamespacedDeployment`. */
  of: string;
  base: string;
  inNamespace: Parameter[];
  gvk: GroupVersionKind;
  group: string;
  resource: string;
}

const refOf = (gvk: GroupVersionKind): string => (typeByKind(gvk) as StructType).ref;
const answer = (of: string, ...codes: number[]): Operation['responses'] => [...codes.map((code) => [code, of] as const), [401, undefined]];

function addResource(add: Add, row: Row, place: Place): void {
  const {base, inNamespace, gvk, of, words} = place;
  const verbs = new Set(row.verbs);
  const ref = refOf(gvk);
  const common = [...inNamespace, ...pretty];
  if (verbs.has('list')) {
    const list = {
      method: 'get',
      action: 'list',
      consumes: anything,
      produces: streaming,
      responses: answer(refOf({...gvk, kind: `${gvk.kind}List`}), 200),
    } as const;
    add(base, {...list, operationId: `list${of}`, parameters: [...common, ...listOptions]});
    if (row.namespaced)
      add(`/${place.resource}`, {...list, operationId: `list${words}${gvk.kind}ForAllNamespaces`, parameters: [...pretty, ...listOptions]});
  }
  if (verbs.has('create')) add(base, create(of, ref, common));
  if (verbs.has('deletecollection')) {
    const at = of.length - gvk.kind.length - (row.namespaced ? 'Namespaced'.length : 0);
    add(base, {
      ...deletion('deletecollection', `delete${of.slice(0, at)}Collection${of.slice(at)}`),
      parameters: [...common, ...deleteCollectionOptions],
      responses: answer('meta/v1.Status', 200),
    });
  }
  const isStored = verbs.has('get') || verbs.has('update') || verbs.has('delete');
  const answersObject = answersWithObject.has(qualified({group: place.group, resource: place.resource}));
  if (isStored) addItem(add, row, gvk, `${base}/{name}`, [inPath('name'), ...common], of, answersObject);
  if (verbs.has('watch')) addWatches(add, row, place);
}

function addWatches(add: Add, row: Row, {base, inNamespace, of, words, gvk, resource}: Place): void {
  const watch = {method: 'get', consumes: anything, produces: streaming, responses: answer('meta/v1.WatchEvent', 200)} as const;
  const parameters = [...inNamespace, ...pretty, ...listOptions];
  add(`/watch${base}`, {...watch, action: 'watchlist', operationId: `watch${of}List`, parameters});
  add(`/watch${base}/{name}`, {...watch, action: 'watch', operationId: `watch${of}`, parameters: [inPath('name'), ...parameters]});
  if (row.namespaced)
    add(`/watch/${resource}`, {
      ...watch,
      action: 'watchlist',
      operationId: `watch${words}${gvk.kind}ListForAllNamespaces`,
      parameters: [...pretty, ...listOptions],
    });
}

const create = (of: string, ref: string, common: Parameter[]): Omit<Operation, 'tag' | 'gvk'> => ({
  method: 'post',
  action: 'post',
  operationId: `create${of}`,
  parameters: [...common, ...writeOptions],
  body: {ref, required: true, mediaTypes: anything},
  consumes: anything,
  produces: plain,
  responses: answer(ref, 200, 201, 202),
});

const deletion = (action: string, operationId: string) =>
  ({
    method: 'delete',
    action,
    operationId,
    body: {ref: 'meta/v1.DeleteOptions', required: false, mediaTypes: anything},
    consumes: anything,
    produces: plain,
  }) as const;

/** One object, or a subresource of it. */
function addItem(add: Add, row: Row, gvk: GroupVersionKind, path: string, common: Parameter[], of: string, answersObject: boolean): void {
  const verbs = new Set(row.verbs);
  const ref = refOf(gvk);
  const shared = {consumes: anything, produces: plain};
  if (verbs.has('get'))
    add(path, {...shared, method: 'get', action: 'get', operationId: `read${of}`, parameters: common, responses: answer(ref, 200)});
  if (verbs.has('create') && row.name.includes('/')) add(path, create(of, ref, common));
  if (verbs.has('update'))
    add(path, {
      ...shared,
      method: 'put',
      action: 'put',
      operationId: `replace${of}`,
      parameters: [...common, ...writeOptions],
      body: {ref, required: true, mediaTypes: anything},
      responses: answer(ref, 200, 201),
    });
  if (verbs.has('delete'))
    add(path, {
      ...deletion('delete', `delete${of}`),
      parameters: [...common, ...deleteOptions],
      responses: answer(answersObject ? ref : 'meta/v1.Status', 200, 202),
    });
  if (verbs.has('patch'))
    add(path, {
      method: 'patch',
      action: 'patch',
      operationId: `patch${of}`,
      parameters: [...common, ...writeOptions, ...query('boolean', 'force')],
      body: {ref: patchRef, required: true, mediaTypes: patches},
      consumes: patches,
      produces: plain,
      responses: answer(ref, 200, 201),
    });
}

const connectMethods: Record<string, Method[]> = {
  get: ['get', 'head'],
  create: ['post'],
  update: ['put'],
  patch: ['patch'],
  delete: ['delete', 'options'],
};

/** exec, attach, port-forward and the proxies: what they connect to answers. */
function addConnect(add: Add, row: Row, gvk: GroupVersionKind, path: string, common: Parameter[], words: string, of: string): void {
  const type = typeByKind(gvk) as StructType;
  const options = type.fields.flatMap((field) =>
    optionParameter(field.name, field.type.kind === 'list' ? field.type.of.kind : field.type.kind),
  );
  const isProxy = row.verbs.includes('delete');
  for (const suffix of isProxy ? ['', '/{path}'] : [''])
    for (const verb of row.verbs)
      for (const method of connectMethods[verb] ?? []) {
        if (!isProxy && method !== 'get' && method !== 'post') continue;
        add(path + suffix, {
          method,
          action: 'connect',
          operationId: `connect${words}${camel(method)}${of}${suffix && 'WithPath'}`,
          parameters: [...common, ...(suffix ? [inPath('path')] : []), ...options],
          consumes: anything,
          produces: anything,
          responses: answer('string', 200),
        });
      }
}

function addLog(add: Add, path: string, common: Parameter[], of: string): void {
  const type = typeByKind({group: '', version: 'v1', kind: 'PodLogOptions'}) as StructType;
  const options = type.fields.flatMap((field) => optionParameter(field.name, field.type.kind));
  add(path, {
    method: 'get',
    action: 'get',
    operationId: `read${of}`,
    parameters: [...common, ...pretty, ...options],
    consumes: anything,
    produces: ['text/plain', ...plain],
    responses: answer('string', 200),
  });
}

function optionParameter(name: string, kind: string): Parameter[] {
  if (name === 'kind' || name === 'apiVersion') return [];
  if (kind === 'bool') return query('boolean', name);
  if (kind === 'int32' || kind === 'int64') return query('integer', name);
  return kind === 'string' ? query('string', name) : [];
}
