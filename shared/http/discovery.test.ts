import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Row {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  singularName?: string;
  shortNames?: string[];
  categories?: string[];
  group?: string;
  version?: string;
}
interface Described {
  resource: string;
  scope: string;
  singularResource: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  responseKind: {group: string; version: string; kind: string};
  subresources?: {subresource: string; verbs: string[]; responseKind: {group: string; version: string; kind: string}}[];
}

const rowsOf = (
  group: string,
  version: string,
  {resource, scope, singularResource, responseKind, verbs, shortNames, categories, subresources = []}: Described,
): Row[] => {
  const namespaced = scope === 'Namespaced';
  const kindOf = (kind: Described['responseKind']) => ({
    kind: kind.kind,
    ...((kind.group || kind.version) && (kind.group !== group || kind.version !== version) && {group: kind.group, version: kind.version}),
  });
  return [
    {
      name: resource,
      singularName: singularResource,
      namespaced,
      ...kindOf(responseKind),
      verbs,
      ...(shortNames && {shortNames}),
      ...(categories && {categories}),
    },
    ...subresources.map((sub) => ({
      name: `${resource}/${sub.subresource}`,
      singularName: '',
      namespaced,
      ...kindOf(sub.responseKind),
      verbs: sub.verbs,
    })),
  ];
};
const comparable = ({storageVersionHash: _hash, ...row}: Row & {storageVersionHash?: string}) => ({
  ...row,
  ...(row.group === '' && {group: undefined}),
});

test('says the same in one document as in many', async () => {
  for (const prefix of ['api', 'apis'] as const) {
    const {body} = await api.get(`/${prefix}`, {accept: aggregated});
    expect(body).toMatchObject({kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2'});
    const groups =
      prefix === 'api' ? [{name: undefined, versions: (await api.get('/api')).body.versions}] : (await api.get('/apis')).body.groups;
    expect(body.items.map((item: {metadata: {name?: string}}) => item.metadata.name)).toEqual(
      groups.map(({name}: {name?: string}) => name),
    );
    for (const item of body.items) {
      const group = item.metadata.name ?? '';
      for (const {version, resources} of item.versions) {
        const list = (await api.get(group ? `/apis/${group}/${version}` : `/api/${version}`)).body;
        expect(list.groupVersion).toBe(group ? `${group}/${version}` : version);
        const expected = list.resources.map(comparable).sort((a: Row, b: Row) => (a.name < b.name ? -1 : 1));
        const found = resources
          .flatMap((each: Described) => rowsOf(group, version, each))
          .sort((a: Row, b: Row) => (a.name < b.name ? -1 : 1));
        expect(
          found.map(({name, kind, namespaced, verbs, shortNames, categories}: Row) => ({
            name,
            kind,
            namespaced,
            verbs,
            shortNames,
            categories,
          })),
        ).toEqual(
          expected.map(({name, kind, namespaced, verbs, shortNames, categories}: Row) => ({
            name,
            kind,
            namespaced,
            verbs,
            shortNames,
            categories,
          })),
        );
      }
    }
  }
});

test('what a client has is not sent again', async () => {
  for (const path of ['/api', '/apis']) {
    const first = await api.get(path, {accept: aggregated});
    const etag = String(first.headers['etag']);
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    const again = await api.send('GET', path, undefined, {accept: aggregated, 'if-none-match': etag});
    expect([again.status, again.body, again.headers['etag']]).toEqual([304, undefined, etag]);
    expect((await api.get(path, {accept: aggregated, 'if-none-match': '"other"'})).code).toBe(200);
  }
});

describe('of all that may be accepted the first that is there is sent', () => {
  test.each([
    [`${aggregated},application/json`, 'APIGroupDiscoveryList'],
    ['application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json', 'APIGroupList'],
    [`application/json,${aggregated};q=0.5`, 'APIGroupList'],
    ['application/json', 'APIGroupList'],
    ['*/*', 'APIGroupList'],
  ])('%s: %s', async (accept, kind) => expect((await api.get('/apis', {accept})).body.kind).toBe(kind));
});

test('a group names its preferred version first', async () => {
  const {body} = await api.get('/apis/autoscaling');
  expect(body).toMatchObject({
    kind: 'APIGroup',
    preferredVersion: {groupVersion: 'autoscaling/v2', version: 'v2'},
    versions: [{version: 'v2'}, {version: 'v1'}],
  });
});

test.each([
  '/api/v2',
  '/apis/nope',
  '/apis/apps/v9',
  '/apis/__proto__',
  '/api/v1/a/b/c/d/e',
  '/apis/apps/v1/nope',
])('%s is not found', async (path) => {
  expect((await api.get(path)).code).toBe(404);
});

test('every path of the root is one that answers', async () => {
  const {paths} = (await api.get('/')).body as {paths: string[]};
  expect(paths).toEqual([...paths].sort());
  // As the reference, which lists one that it does not serve.
  for (const path of paths.filter((each) => each !== '/openapi/v3/')) expect([path, (await api.get(path)).code]).toEqual([path, 200]);
});
