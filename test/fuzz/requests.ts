/** Requests as strangers send them: the routes that there are and routes that are nearly there, every option with values good and bad. */
import type {UserInfo} from '../../shared/auth/user.ts';
import type {ApiRequest} from '../../shared/http/messages.ts';
import {type Body, objectBody, patchBody} from './bodies.ts';
import {allResources, namespace, pathOf, type Sample} from './corpus.ts';
import type {Dice} from './dice.ts';

export interface FuzzRequest extends ApiRequest {
  /** What the watch or list of this request asked for; a stream is read a little and then left. */
  headers: Record<string, string | undefined>;
}

const methods = [
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'BREW',
  'get',
  '__proto__',
  '',
];
const accepts = [
  undefined,
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  '*/*;q=0.1,text/html',
  'text/plain',
  ';;;=,,q=',
  'application/json;as=__proto__;v=constructor',
  'application/json;stream=watch',
  `${'a/b;q=0.5,'.repeat(500)}application/json`,
];
const users: (UserInfo | undefined)[] = [
  {name: 'admin', groups: ['system:masters', 'system:authenticated']},
  {name: 'admin', groups: ['system:masters', 'system:authenticated']},
  ...Array.from({length: 12}, () => ({name: 'admin', groups: ['system:masters', 'system:authenticated']})),
  {name: 'bob', groups: ['system:authenticated']},
  undefined,
];
const numbers = ['0', '1', '5', '-1', '', 'x', '99999999999999999999', '1e3', '٣', '0x10'];
const queryValues: Record<string, readonly string[]> = {
  limit: numbers,
  continue: ['x', '', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0', 'eyJ2Ijoi', 'bnVsbA', 'W10'],
  resourceVersion: numbers,
  resourceVersionMatch: ['Exact', 'NotOlderThan', '', 'x'],
  labelSelector: [
    'a=b',
    'a in (b,c)',
    '!a',
    'a==',
    ',,,',
    'a in (',
    'a>5',
    'x notin ()',
    '__proto__=x',
    'é',
    `a in (${'b,'.repeat(2_000)}c)`,
  ],
  fieldSelector: [
    'metadata.name=a',
    'metadata.namespace!=x',
    'status.phase=Running',
    'constructor=1',
    '__proto__=1',
    'a\\,b=c',
    '====',
    'spec.nodeName=',
    'involvedObject.name=x',
  ],
  watch: ['1', 'true', '0', 'x'],
  allowWatchBookmarks: ['1', 'x'],
  sendInitialEvents: ['true', 'false', 'x'],
  timeoutSeconds: ['1', '0', '-1', 'x', '99999999999'],
  timeout: ['1s', 'x', '-1s', '99h', '0'],
  dryRun: ['All', 'x', ''],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  fieldManager: ['me', '', 'x'.repeat(200), '\u0000'],
  force: ['true', 'x'],
  pretty: ['true', 'x', ''],
  includeObject: ['None', 'Metadata', 'Object', 'x'],
  gracePeriodSeconds: numbers,
  propagationPolicy: ['Orphan', 'Foreground', 'Background', 'x'],
  orphanDependents: ['true', 'false', 'x'],
  exclude: ['ping', 'x', '__proto__'],
  verbose: [''],
  container: ['c', 'x'],
  command: ['sh'],
  tailLines: numbers,
  stdin: ['true'],
  __proto__x: ['1'],
};
const subresources = [
  'status',
  'scale',
  'binding',
  'eviction',
  'finalize',
  'approval',
  'token',
  'ephemeralcontainers',
  'resize',
  'log',
  'exec',
  'attach',
  'portforward',
  'proxy',
  'proxy/a/b',
  'constructor',
  '__proto__',
  'toString',
  'nope',
  'status/more',
];
const names = [
  'a',
  'b',
  'pod',
  'configmap',
  'default',
  'kubernetes',
  'A_b',
  '..',
  '%2e%2e',
  '%2F',
  '%zz',
  '%',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  'é',
  '%ff',
  ' ',
  'a:b',
];
const elsewhere = [
  '/',
  '',
  '//',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/__proto__/v1/x',
  '/api/constructor',
  '/apis/apps/v9/deployments',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/apis/apps/v1',
  '/openapi/v3/__proto__',
  '/version',
  '/healthz',
  '/livez/ping',
  '/readyz/nope',
  '/livez/__proto__',
  '/metrics',
  '/metrics/slis',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/nope',
  '/api/v1/watch',
  '/api/v1/proxy',
  '/api/v1/watch/pods',
  '/api/v1/watch/namespaces/fuzz/configmaps/a',
  '/logs',
  '/debug/pprof',
  '/api/v1/namespaces/fuzz',
  '/api/v1/namespaces/fuzz/finalize',
  '/api/v1/namespaces//pods',
  '/api//v1',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x/status',
];

export function fuzzRequest(dice: Dice, corpus: readonly Sample[]): FuzzRequest {
  const sample = dice.pick(corpus);
  const method = dice.chance(0.92) ? dice.pick(methods.slice(0, 8)) : dice.pick(methods);
  const wanted = pathFor(dice, method, sample);
  // Without its namespace nothing else would be stored any more.
  const path =
    method === 'DELETE' && wanted.replace(/\/+$/, '').endsWith(`/namespaces/${namespace}`) ? '/api/v1/namespaces/nowhere' : wanted;
  const body = bodyFor(dice, method, path, sample);
  const user = dice.pick(users);
  return {
    method,
    path,
    query: queryFor(dice, method),
    headers: headersFor(dice, body),
    ...(user && {user}),
    ...(body && {body: body.bytes}),
    peer: {address: '192.0.2.1'},
  };
}

function pathFor(dice: Dice, method: string, sample: Sample): string {
  const roll = dice.random();
  if (roll < 0.08) return dice.pick(elsewhere);
  const resource = dice.chance(0.95) ? sample.resource : dice.pick(allResources());
  const within = dice.chance(0.93) ? namespace : dice.pick(['', 'default', 'nowhere', 'kube-system', '__proto__']);
  const toCollection = method === 'POST' ? dice.chance(0.85) : dice.chance(method === 'DELETE' ? 0.03 : 0.25);
  const name = dice.chance(0.93) ? sample.name : dice.pick(names);
  let path = pathOf(resource, toCollection ? '' : name, within);
  if (!toCollection && dice.chance(0.3)) {
    const own = Object.keys(resource.subresources);
    path += `/${own.length > 0 && dice.chance(0.7) ? dice.pick(own) : dice.pick(subresources)}`;
  }
  if (dice.chance(0.03)) path = path.replace(/v\d\w*/, dice.pick(['v0', 'v1', 'v1beta1', 'watch', '']));
  if (dice.chance(0.02)) path = `${path}/`;
  if (dice.chance(0.02)) path = path.slice(0, dice.below(path.length));
  return path;
}

function bodyFor(dice: Dice, method: string, path: string, {object}: Sample): Body | undefined {
  if (method === 'PATCH') return patchBody(dice, object);
  if (method === 'DELETE') {
    if (dice.chance(0.5)) return undefined;
    return dice.chance(0.2)
      ? objectBody(dice, object)
      : {bytes: Buffer.from(JSON.stringify(deleteOptions(dice))), contentType: 'application/json'};
  }
  if (method === 'POST' && path.endsWith('/token'))
    return objectBody(dice, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {audiences: ['x'], expirationSeconds: 600},
    });
  if (method === 'POST' && path.endsWith('/eviction'))
    return objectBody(dice, {kind: 'Eviction', apiVersion: 'policy/v1', metadata: {name: 'pod'}, deleteOptions: {}});
  if (method === 'POST' && path.endsWith('/binding'))
    return objectBody(dice, {kind: 'Binding', apiVersion: 'v1', metadata: {name: 'pod'}, target: {kind: 'Node', name: 'n'}});
  if (path.endsWith('/scale'))
    return objectBody(dice, {kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {name: 'x', namespace}, spec: {replicas: 3}});
  if (method === 'POST' || method === 'PUT') return objectBody(dice, object);
  return dice.chance(0.03) ? objectBody(dice, object) : undefined;
}

const deleteOptions = (dice: Dice): object => ({
  kind: dice.pick(['DeleteOptions', 'DeleteOptions', 'Nope']),
  apiVersion: dice.pick(['v1', 'meta.k8s.io/v1', 'policy/v1', 'x/y/z']),
  gracePeriodSeconds: dice.pick([0, 1, 30, -1, 1e18, null, 'x']),
  propagationPolicy: dice.pick(['Orphan', 'Foreground', 'Background', 'x', null]),
  preconditions: dice.pick([null, {uid: 'x'}, {resourceVersion: '1'}, {}, {}]),
  dryRun: dice.pick([null, [], ['All'], ['x']]),
});

function queryFor(dice: Dice, method: string): [string, string][] {
  const query: [string, string][] = [];
  const options = Object.keys(queryValues);
  for (let count = dice.pick([0, 0, 0, 0, 0, 1, 1, 2, 4]); count > 0; count--) {
    const name = dice.pick(options);
    query.push([name, dice.pick(queryValues[name]!)]);
  }
  // Collections would soon be empty, objects rarely stored.
  if (method === 'DELETE' && dice.chance(0.5)) query.push(['dryRun', 'All']);
  return query;
}

function headersFor(dice: Dice, body: Body | undefined): FuzzRequest['headers'] {
  const headers: FuzzRequest['headers'] = {'user-agent': dice.pick(['kubectl/v1.36.3', 'curl/8', '', 'x'.repeat(2_000), undefined])};
  const accept = dice.chance(0.5) ? undefined : dice.pick(accepts);
  if (accept !== undefined) headers['accept'] = accept;
  if (body?.contentType !== undefined) headers['content-type'] = body.contentType;
  if (dice.chance(0.05))
    headers['authorization'] = dice.pick([
      'Bearer x',
      'Bearer ',
      'Basic eDp5',
      'bearer a.b.c',
      `Bearer ${'x'.repeat(9_000)}`,
      'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
      '\u0000',
    ]);
  if (dice.chance(0.05)) headers['impersonate-user'] = dice.pick(['bob', '', 'system:serviceaccount:a:b', 'system:anonymous', '__proto__']);
  if (dice.chance(0.03)) headers['impersonate-group'] = dice.pick(['system:masters', 'g1, g2', '']);
  if (dice.chance(0.005)) headers['impersonate-uid'] = 'u';
  if (dice.chance(0.005))
    headers[dice.pick(['impersonate-extra-__proto__', 'impersonate-extra-a%2fb', 'impersonate-extra-', 'impersonate-extra-%zz'])] = 'x';
  if (dice.chance(0.03)) headers['audit-id'] = dice.pick(['x'.repeat(9_000), '', 'é']);
  if (dice.chance(0.02)) headers['if-none-match'] = dice.pick(['*', '"x"', '']);
  if (dice.chance(0.02)) headers['content-encoding'] = 'gzip';
  return headers;
}
