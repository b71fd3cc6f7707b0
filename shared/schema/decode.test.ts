import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {StatusError} from '../errors.ts';
import type {GroupVersionKind, Json} from '../object.ts';
import {type Decoded, decode, normalize} from './decode.ts';

const configMap: GroupVersionKind = {group: '', version: 'v1', kind: 'ConfigMap'};
const pod: GroupVersionKind = {group: '', version: 'v1', kind: 'Pod'};
const deployment: GroupVersionKind = {group: 'apps', version: 'v1', kind: 'Deployment'};

const decodeText = (text: string, defaults = configMap, strict = true): Decoded =>
  decode(Buffer.from(text), {mediaType: 'application/json', defaults, strict});
const decodeJson = (value: unknown, defaults = configMap): Decoded => decodeText(JSON.stringify(value), defaults);

function refusal(
  text: string | Json,
  defaults = configMap,
  mediaType: 'application/json' | 'application/yaml' = 'application/json',
): string {
  try {
    decode(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)), {mediaType, defaults, strict: true});
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    expect((error as StatusError).status).toMatchObject({code: 400, reason: 'BadRequest'});
    return (error as StatusError).message;
  }
  return 'none';
}

interface Recorded extends GroupVersionKind {
  strict: boolean;
  body: string;
  object?: Json;
  fault?: string;
  strictErrors?: string;
}

describe('as the reference decodes', () => {
  /** Objects with something changed in them, and what the reference's own decoder made of each. */
  const recorded: Recorded[] = readFileSync(new URL('testdata/decoded.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

  test.each(recorded.map((row) => [row.fault ?? row.strictErrors ?? row.kind, row] as const))('%s', (_title, row) => {
    const {kind, group, version, strict, body, object, fault, strictErrors = ''} = row;
    if (fault !== undefined) {
      const message = refusal(body, {group, version, kind});
      expect([`${kind} in version "${version}" cannot be handled as a ${kind}: ${fault}`, message.replace(/ \([^(]*\)$/, '')]).toContain(
        message.includes('cannot be handled') ? message : `the object provided is unrecognized (must be of type ${kind}): ${fault}`,
      );
      return;
    }
    const decoded = decodeText(body, {group, version, kind}, strict);
    expect(JSON.stringify(decoded.object)).toBe(JSON.stringify(object));
    expect(decoded.strictErrors.join(', ')).toBe(strictErrors);
  });
});

describe('which kind', () => {
  test('absent kind and version are those of the path', () => {
    expect(decodeText('{"metadata":{"name":"a"}}').object).toEqual({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'a'}});
    expect(decodeText('null').object).toEqual({kind: 'ConfigMap', apiVersion: 'v1', metadata: {}});
    expect(decodeText('{"apiVersion":"apps/"}', deployment).object.apiVersion).toBe('apps/v1');
  });

  test.each<[string, GroupVersionKind, string]>([
    [
      '{"apiVersion":"apps/v1","kind":"ConfigMap"}',
      configMap,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      '{"kind":"Frob"}',
      configMap,
      'Frob in version "v1" cannot be handled as a ConfigMap: no kind "Frob" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      '{"kind":"Secret"}',
      configMap,
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      '{"kind":"Secret","data":{"a":"%"}}',
      configMap,
      'Secret in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
    ],
    [
      '{"KIND":"Secret"}',
      configMap,
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      '{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"}',
      {group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler'},
      'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
    ],
    [
      '{"apiVersion":"a/b/c"}',
      configMap,
      'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})',
    ],
    [
      '',
      configMap,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      '[]',
      configMap,
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
    ],
    [
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{}} trailing',
      configMap,
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'t\' after top-level value ({"apiVersion":"v1","kind":"Con ...)',
    ],
  ])('%s', (body, defaults, message) => {
    expect(refusal(body, defaults)).toBe(message);
  });
});

describe('faults', () => {
  const replicas = (text: string) => refusal(`{"spec":{"replicas":${text},"template":{}}}`, deployment).replace(/^.*?: /, '');

  test('an integer must be spelled as one', () => {
    const into = 'into Go struct field DeploymentSpec.spec.replicas of type int32';
    for (const text of ['1.5', '1.0', '1e2', '2147483648', '9223372036854775808'])
      expect(replicas(text)).toBe(`json: cannot unmarshal number ${text} ${into}`);
    expect(replicas('"1"')).toBe(`json: cannot unmarshal string ${into}`);
    expect(replicas('-0')).toBe('none');
  });

  test('the first fault of the document is told, unless something that reads itself gave up', () => {
    const metadata = {labels: {a: 1}, annotations: 5};
    expect(refusal({spec: {replicas: 'x'}, metadata}, deployment)).toContain('DeploymentSpec.spec.replicas');
    expect(refusal({metadata, spec: {replicas: 'x'}}, deployment)).toContain('ObjectMeta.metadata.labels of type string');
    expect(refusal({metadata: {...metadata, creationTimestamp: 'soon'}}, deployment)).toContain('parsing time "soon"');
  });

  test('a fault counts for more than unknown fields', () => {
    expect(refusal({bogus: 1, data: 5})).toContain('json: cannot unmarshal number into Go struct field ConfigMap.data');
  });
});

describe('strict errors', () => {
  test('unknown and duplicate fields stand in the order of the document, each once', () => {
    const {strictErrors} = decodeText(
      '{"b0gus":1,"data":{"k":"1","k":"2","k":"3"},"metadata":{"x":{"y":1},"name":"a","name":"b"},"b0gus":2}',
    );
    expect(strictErrors).toEqual([
      'unknown field "b0gus"',
      'duplicate field "data.k"',
      'unknown field "metadata.x"',
      'duplicate field "metadata.name"',
    ]);
  });

  test('places in lists are told', () => {
    const spec = {containers: [{name: 'a'}, {name: 'b', imag: 'x', ports: [{port: 1}]}]};
    expect(decodeJson({spec}, pod).strictErrors).toEqual([
      'unknown field "spec.containers[1].imag"',
      'unknown field "spec.containers[1].ports[0].port"',
    ]);
  });

  test('a hundred are told', () => {
    const many = Object.fromEntries(Array.from({length: 150}, (_, at) => [`x${at}`, 1]));
    expect(decodeJson(many).strictErrors).toHaveLength(100);
  });

  test('nobody who does not ask hears of them', () => {
    expect(decodeText('{"bogus":1,"data":{"k":"1","k":"2"}}', configMap, false).strictErrors).toEqual([]);
  });

  test('keys that YAML has twice are told with their lines', () => {
    const body = 'metadata: {name: a}\ndata:\n  k: "1"\n  k: "2"\nbogus: x\nalso: y\n';
    expect(decode(Buffer.from(body), {mediaType: 'application/yaml', defaults: configMap, strict: true}).strictErrors).toEqual([
      'yaml: unmarshal errors:\n  line 4: key "k" already set in map',
      'unknown field "also"',
      'unknown field "bogus"',
    ]);
  });
});

describe('normal form', () => {
  const normal = (value: Json, gvk: GroupVersionKind): Json => {
    const {kind: _kind, apiVersion: _version, metadata: _metadata, ...rest} = normalize(value, gvk);
    return rest as Json;
  };

  test.each<[string, GroupVersionKind, Json, Json]>([
    [
      'empty structs stay, empty optional values go',
      pod,
      {spec: {containers: null, volumes: [], hostNetwork: false}},
      {spec: {containers: null}, status: {}},
    ],
    [
      'resources of a container are always there',
      pod,
      {spec: {containers: [{name: 'c'}]}},
      {spec: {containers: [{name: 'c', resources: {}}]}, status: {}},
    ],
    [
      'amounts are spelled normally',
      pod,
      {spec: {containers: [{name: 'c', resources: {limits: {memory: '1024Mi', cpu: 1.5}}}]}},
      {spec: {containers: [{name: 'c', resources: {limits: {cpu: '1500m', memory: '1Gi'}}}]}, status: {}},
    ],
    [
      'times are in UTC, in whole seconds or with six digits',
      {group: 'coordination.k8s.io', version: 'v1', kind: 'Lease'},
      {spec: {renewTime: '2020-01-02T03:04:05.123456+02:00'}},
      {spec: {renewTime: '2020-01-02T01:04:05.123456Z'}},
    ],
    [
      'the largest integer stays in range, as close as a double comes',
      deployment,
      {spec: {template: {spec: {containers: null, terminationGracePeriodSeconds: 2 ** 63}}}},
      {
        spec: {
          selector: null,
          template: {metadata: {}, spec: {containers: null, terminationGracePeriodSeconds: 2 ** 63 - 1024}},
          strategy: {},
        },
        status: {},
      },
    ],
    [
      'bytes are base64 without stray bits',
      {group: '', version: 'v1', kind: 'Secret'},
      {data: {a: 'YR==', b: 'Y\nQ==', c: null}},
      {data: {a: 'YQ==', b: 'YQ==', c: null}},
    ],
  ])('%s', (_fact, gvk, given, wanted) => {
    expect(normal(given, gvk)).toEqual(wanted);
  });

  test('keys stand in the order of the type, of maps in their own', () => {
    const object = normalize({data: {b: '1', a: '2'}, metadata: {labels: {}, name: 'a'}, immutable: true}, configMap);
    expect(JSON.stringify(object)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"immutable":true,"data":{"a":"2","b":"1"}}',
    );
  });

  test('what was given is left as it was', () => {
    const labels = {b: '1', a: '2'};
    const object = normalize({metadata: {labels}}, configMap);
    object.metadata.labels!['c'] = '3';
    expect(labels).toEqual({b: '1', a: '2'});
  });

  test('a key that JavaScript gives a meaning is data', () => {
    const {object} = decodeText('{"data":{"__proto__":"x","constructor":"y"}}');
    expect(Object.keys(object.data)).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(object.data)).toBe('{"__proto__":"x","constructor":"y"}');
  });

  test('a schema within a schema within a schema ends', () => {
    let schema: Json = {type: 'object'};
    for (let depth = 0; depth < 400; depth++) schema = {properties: {a: schema}};
    const crd = {group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition'};
    const versions = [{name: 'v1', schema: {openAPIV3Schema: schema}}];
    expect(JSON.stringify(decodeJson({spec: {versions}}, crd).object.spec.versions[0].schema.openAPIV3Schema)).toBe(JSON.stringify(schema));
  });
});

const kinds: GroupVersionKind[] = [
  configMap,
  pod,
  deployment,
  {group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition'},
  {group: 'coordination.k8s.io', version: 'v1', kind: 'Lease'},
];
const words = [
  'metadata',
  'spec',
  'status',
  'name',
  'labels',
  'data',
  'template',
  'containers',
  'resources',
  'limits',
  'cpu',
  'versions',
  'schema',
  'items',
  'renewTime',
  'x',
];
const documents = fc.letrec<{value: Json}>((tie) => ({
  value: fc.oneof(
    {depthSize: 'small'},
    fc.constantFrom<Json>(null, true, 0, 1.5, -1, '', 'x', '1Gi', '2020-01-01T00:00:00Z', 'YQ=='),
    fc.array(tie('value'), {maxLength: 3}),
    fc.dictionary(fc.constantFrom(...words), tie('value'), {maxKeys: 5}) as fc.Arbitrary<Json>,
  ),
})).value;

describe('laws', () => {
  test('any document is an object or a 400; what came out once stays as it is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), documents, (gvk, document) => {
        let object: Json;
        try {
          object = decodeJson(document, gvk).object as unknown as Json;
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
          return;
        }
        expect(JSON.stringify(normalize(object, gvk))).toBe(JSON.stringify(object));
      }),
      {numRuns: 500},
    );
  });

  test('so are any bytes, as JSON and as YAML', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 40}), fc.constantFrom('application/json', 'application/yaml'), (body, mediaType) => {
        try {
          decode(body, {mediaType: mediaType as 'application/json', defaults: configMap, strict: true});
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});
