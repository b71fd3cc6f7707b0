import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';
import {encodeProtobuf} from '../schema/protobuf/protobuf.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
  await api.post(configMaps, configMap('a', {data: {k: 'v'}}));
});
afterAll(() => api.close());

const protobuf = 'application/vnd.kubernetes.protobuf';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('an object comes as', () => {
  test.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    [protobuf, protobuf],
    ['application/vnd.cluster.protobuf', 'application/vnd.cluster.protobuf'],
    [`${protobuf},application/json`, protobuf],
    [`${protobuf};q=0.5,application/yaml;q=0.9,application/json;q=0.1`, 'application/yaml'],
    ['text/html,application/json', 'application/json'],
    ['application/json;q=x', 'application/json'],
    [`${table},application/json`, 'application/json'],
  ])('%s: %s', async (accept, type) => {
    const answer = await api.get(`${configMaps}/a`, accept === undefined ? {} : {accept});
    expect([answer.code, answer.headers['content-type']]).toEqual([200, type]);
  });

  test('a table where one is asked for, the object where tables of that version are not made', async () => {
    expect((await api.get(`${configMaps}/a`, {accept: `${table},application/json`})).body.kind).toBe('Table');
    expect((await api.get(`${configMaps}/a`, {accept: `${table.replace('v1', 'v9')},application/json`})).body.kind).toBe('ConfigMap');
  });

  test('indented, for people', async () => {
    expect((await api.get(`${configMaps}/a?pretty=true`)).text).toMatch(/^\{\n {2}"kind": "ConfigMap",\n/);
    expect((await api.get(`${configMaps}/a`, {'user-agent': 'curl/8.0'})).text).toMatch(/^\{\n/);
    expect((await api.get(`${configMaps}/a?pretty=false`, {'user-agent': 'curl/8.0'})).text).toMatch(/^\{"kind"/);
  });

  test('all forms say the same', async () => {
    const json = (await api.get(`${configMaps}/a`)).body;
    const yaml = (await api.get(`${configMaps}/a`, {accept: 'application/yaml'})).text;
    expect(yaml).toContain('kind: ConfigMap\n');
    expect(yaml).toContain(`resourceVersion: "${json.metadata.resourceVersion}"`);
    const answer = await api.send('GET', `${configMaps}/a`, undefined, {accept: protobuf});
    expect(Buffer.from(answer.body as Uint8Array).equals(Buffer.from(encodeProtobuf(json)))).toBe(true);
  });
});

describe('what cannot be sent is 406', () => {
  test.each([
    ['text/html', `${configMaps}/a`],
    ['text/html', configMaps],
    ['application/json;as=Table;v=v9;g=meta.k8s.io', `${configMaps}/a`],
    ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', `${configMaps}/a`],
    ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', configMaps],
    ['application/yaml', `${configMaps}?watch=1`],
  ])('%s of %s', async (accept, url) => {
    const {code, text} = await api.get(url, {accept});
    expect([code, /^ *"?reason"?: ?"?NotAcceptable|"reason":"NotAcceptable"/m.test(text)]).toEqual([406, true]);
  });
});

describe('what cannot be read is 415', () => {
  test.each([
    'text/plain',
    'application/xml',
    'application/json-patch+json',
    'application/merge-patch+json',
    ';',
    'application',
  ])('%s', async (type) => {
    const {code, body} = await api.post(configMaps, configMap('b'), {'content-type': type});
    expect([code, body.reason]).toEqual([415, 'UnsupportedMediaType']);
    expect(body.message).toContain(`accepted media types include: application/json, application/yaml, ${protobuf}`);
  });
});

describe('a body may be', () => {
  test.each([
    ['application/json; charset=utf-8', Buffer.from('{"metadata":{"name":"j"}}')],
    ['application/yaml', Buffer.from('metadata:\n  name: yaml\n')],
    [protobuf, encodeProtobuf({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'p'}})],
    ['application/vnd.cluster.protobuf', encodeProtobuf({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'q'}})],
  ])('%s', async (type, bytes) => {
    const answer = await api.post(configMaps, bytes, {'content-type': type});
    expect([answer.code, answer.headers['content-type']]).toEqual([201, 'application/json']);
  });

  test.each([
    ['nothing', ''],
    ['half', '{"metadata":{"name":'],
    ['no object', '[1]'],
    ['too deep', `{"a":${'['.repeat(20_000)}`],
    ['another kind', '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}'],
    ['no UTF-8 and no JSON', Buffer.from([0xff, 0xfe, 0x00])],
    ['a huge number', `{"metadata":{"name":"x","generation":${'9'.repeat(400)}}}`],
  ])('but not %s: 400', async (_what, body) => {
    const answer = await api.post(configMaps, typeof body === 'string' ? Buffer.from(body) : body);
    expect([answer.code, answer.body.kind, answer.body.reason]).toEqual([400, 'Status', 'BadRequest']);
  });

  test('nor over three MiB: 413', async () => {
    const answer = await api.post(configMaps, Buffer.alloc(3 * 1024 * 1024 + 1, 0x20));
    expect([answer.code, answer.body.reason]).toEqual([413, 'RequestEntityTooLarge']);
  });
});

test('keys that are names of prototypes are keys like others, or no fields', async () => {
  const body = Buffer.from(
    '{"metadata":{"name":"proto","labels":{"constructor":"x"},"__proto__":{"labels":{"bad":"y"}}},"data":{"__proto__":"z","toString":"t"}}',
  );
  const {code} = await api.post(configMaps, body);
  expect(code).toBe(201);
  const {text, body: stored} = await api.get(`${configMaps}/proto`);
  expect(text).toContain('"__proto__":"z"');
  expect(Object.keys(stored.metadata.labels)).toEqual(['constructor']);
  expect(({} as Record<string, unknown>)['bad']).toBeUndefined();
});

test('an error comes in the form that was asked for', async () => {
  const answer = await api.get(`${configMaps}/absent`, {accept: 'application/yaml'});
  expect([answer.code, answer.headers['content-type']]).toEqual([404, 'application/yaml']);
  expect(answer.text).toContain('reason: NotFound\n');
});
