import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {catalogue} from '../../registry/catalogue.ts';
import {typeByKind} from '../../schema/types.ts';
import type {ApiRequest} from '../messages.ts';
import {answerOpenApi} from './answer.ts';
import {encodeOpenApiV2, encodeOpenApiV3} from './gnostic.ts';
import {negotiateOpenApi, OpenApi} from './openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are read as clients read them, by path
type Document = any;
const openapi = new OpenApi(catalogue());
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const index = (): Record<string, {serverRelativeURL: string}> => JSON.parse(text(openapi.indexV3().bytes)).paths;
const v3 = (path: string): Document => JSON.parse(text(openapi.documentV3(path)!.bytes));
const v2 = (): Document => JSON.parse(text(openapi.documentV2().bytes));
const references = (document: object) => new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, ref]) => ref!));

describe('version 3', () => {
  test('the index names each document by its content', () => {
    const paths = index();
    expect(Object.keys(paths).slice(0, 4)).toEqual(['.well-known/openid-configuration', 'api', 'api/v1', 'apis']);
    expect(paths['apis/apps/v1']!.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
    for (const [path, {serverRelativeURL}] of Object.entries(paths))
      expect(`/openapi/v3/${path}?hash=${openapi.documentV3(path)!.etag.slice(1, -1)}`).toBe(serverRelativeURL);
  });

  test('every reference of every document leads somewhere, and nothing is there that none leads to', () => {
    for (const path of Object.keys(index())) {
      const document = v3(path);
      const names = Object.keys(document.components.schemas ?? {}).map((name) => `components/schemas/${name}`);
      expect([...references(document)].sort()).toEqual(names.sort());
    }
  });

  test('every served resource has its paths and operations', () => {
    for (const resource of catalogue().resources) {
      const root = resource.group ? `apis/${resource.group}/${resource.version}` : `api/${resource.version}`;
      const {paths} = v3(root);
      const base = `/${root}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.resource}`;
      const actions = [paths[base], paths[`${base}/{name}`]].flatMap((item) =>
        Object.values((item ?? {}) as Record<string, Document>).map((operation) => operation['x-kubernetes-action']),
      );
      const wanted = {
        create: 'post',
        update: 'put',
        list: 'list',
        get: 'get',
        patch: 'patch',
        delete: 'delete',
        deletecollection: 'deletecollection',
      };
      for (const verb of resource.verbs) if (verb in wanted) expect(actions).toContain(wanted[verb as keyof typeof wanted]);
      for (const name of Object.keys(resource.subresources)) expect(paths[`${base}/{name}/${name}`]).toBeDefined();
    }
  });

  test('a schema tells required members, defaults, known values, keys of lists, and its kind', () => {
    const {schemas} = v3('apis/apps/v1').components;
    expect(schemas['io.k8s.api.apps.v1.Deployment']['x-kubernetes-group-version-kind']).toEqual([
      {group: 'apps', kind: 'Deployment', version: 'v1'},
    ]);
    expect(schemas['io.k8s.api.apps.v1.DeploymentSpec'].required).toEqual(['selector', 'template']);
    expect(schemas['io.k8s.api.apps.v1.DeploymentSpec'].properties.strategy).toEqual({
      default: {},
      allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy'}],
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    expect(schemas['io.k8s.api.core.v1.ContainerPort'].properties.protocol).toEqual({
      type: 'string',
      default: 'TCP',
      enum: ['SCTP', 'TCP', 'UDP'],
    });
    expect(schemas['io.k8s.api.core.v1.Container'].properties.ports).toMatchObject({
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector']['x-kubernetes-map-type']).toBe('atomic');
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind']).toEqual([
      {group: '', kind: 'DeleteOptions', version: 'v1'},
      {group: 'apps', kind: 'DeleteOptions', version: 'v1'},
    ]);
  });

  test('an operation tells what it takes and answers', () => {
    const {paths} = v3('api/v1');
    const pods = paths['/api/v1/namespaces/{namespace}/pods'];
    expect(pods.parameters.map((parameter: Document) => parameter.name)).toEqual(['namespace', 'pretty']);
    expect(pods.post.operationId).toBe('createCoreV1NamespacedPod');
    expect(pods.post.parameters.map((parameter: Document) => parameter.name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
    expect(Object.keys(pods.get.responses['200'].content)).toContain('application/vnd.kubernetes.protobuf;stream=watch');
    const exec = paths['/api/v1/namespaces/{namespace}/pods/{name}/exec'];
    expect(exec.get['x-kubernetes-group-version-kind'].kind).toBe('PodExecOptions');
    expect(Object.keys(paths['/api/v1/nodes/{name}/proxy/{path}'])).toEqual([
      'get',
      'put',
      'post',
      'delete',
      'options',
      'head',
      'patch',
      'parameters',
    ]);
  });
});

describe('version 2', () => {
  test('one document with the definitions of all kinds; its references lead somewhere', () => {
    const document = v2();
    for (const ref of references(document)) {
      const [section, name] = ref.split(/\/(.*)/) as [string, string];
      expect(document[section][name], ref).toBeDefined();
    }
    const kinds = Object.values<Document>(document.definitions).flatMap((schema) => schema['x-kubernetes-group-version-kind'] ?? []);
    for (const {group, version, kind} of catalogue().resources)
      if (typeByKind({group, version, kind})) expect(kinds).toContainEqual({group, kind, version});
  });

  test('defaults are left out, and a reference stands beside its marks', () => {
    const {definitions} = v2();
    expect(definitions['io.k8s.api.core.v1.ContainerPort'].properties.protocol).toEqual({type: 'string', enum: ['SCTP', 'TCP', 'UDP']});
    expect(definitions['io.k8s.api.apps.v1.DeploymentSpec'].properties.strategy).toEqual({
      $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
  });

  test('clients of old find dryRun in the operation itself', () => {
    const {parameters} = v2().paths['/api/v1/namespaces/{namespace}/pods/{name}'].patch;
    expect(parameters).toContainEqual({uniqueItems: true, type: 'string', name: 'dryRun', in: 'query'});
  });
});

describe('as protobuf', () => {
  const golden = JSON.parse(readFileSync(new URL('./testdata/gnostic.json', import.meta.url), 'utf8'));

  test('documents are the bytes that gnostic makes of them', () => {
    expect(Buffer.from(encodeOpenApiV2(golden.v2.document)).toString('base64')).toBe(golden.v2.protobuf);
    expect(Buffer.from(encodeOpenApiV3(golden.v3.document)).toString('base64')).toBe(golden.v3.protobuf);
  });

  test('every document has that form', () => {
    expect(text(openapi.documentV2('protobuf').bytes.subarray(0, 5))).toBe('\n\x032.0');
    for (const path of Object.keys(index())) expect(text(openapi.documentV3(path, 'protobuf')!.bytes.subarray(0, 7))).toBe('\n\x053.0.0');
  });

  test('what has no field in the messages is an error', () => {
    expect(() => encodeOpenApiV3({openapi: '3.0.0', servers: []})).toThrow('no field for servers');
  });
});

describe('what a client may ask', () => {
  const get = (path: string, headers: ApiRequest['headers'] = {}, query: ApiRequest['query'] = []) =>
    answerOpenApi(
      openapi,
      {method: 'GET', path: `/openapi/${path}`, query, headers},
      path.split('/').filter(Boolean),
      Date.UTC(2026, 0, 1),
    );
  const gnostic = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

  test('JSON, or protobuf under either of its names; else 406', () => {
    expect(negotiateOpenApi(undefined, 2)).toBe('json');
    expect(negotiateOpenApi('*/*', 3)).toBe('json');
    expect(negotiateOpenApi(`${gnostic},application/json`, 2)).toBe('protobuf');
    expect(negotiateOpenApi(gnostic.replace('@', '.'), 2)).toBe('protobuf');
    expect(negotiateOpenApi(`application/json;q=0.5,${gnostic};q=0.9`, 2)).toBe('protobuf');
    expect(negotiateOpenApi(gnostic, 3)).toBeUndefined();
    expect(get('v2', {accept: 'application/yaml'})!.status).toBe(406);
    expect(get('v2', {accept: gnostic})!.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  });

  test('what it has already is not sent again', () => {
    const etag = get('v2')!.headers['etag'] as string;
    expect(get('v2', {'if-none-match': `"x", ${etag}`})).toMatchObject({status: 304, headers: {etag}});
    expect(get('v2', {'if-none-match': '"x"'})!.status).toBe(200);
  });

  test('compressed where it can read that', () => {
    const {headers, body} = get('v2', {'accept-encoding': 'gzip'})!;
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(body as Uint8Array).equals(get('v2')!.body as Uint8Array)).toBe(true);
  });

  test('a name with the right hash is good for ever, with another one leads to the right', () => {
    const url = index()['apis/batch/v1']!.serverRelativeURL;
    const hash = url.slice(url.indexOf('=') + 1);
    expect(get('v3/apis/batch/v1', {}, [['hash', hash]])!.headers['cache-control']).toBe('public, immutable');
    expect(get('v3/apis/batch/v1', {}, [['hash', 'A']])).toMatchObject({status: 301, headers: {location: url}});
    expect(get('v3/apis/nope/v1')!.status).toBe(404);
    expect(get('v3/')!.status).toBe(404);
    expect(get('v2/')).toBeUndefined();
  });
});
