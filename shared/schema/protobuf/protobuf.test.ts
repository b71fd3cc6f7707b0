import {existsSync, readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {StatusError} from '../../errors.ts';
import {maxProtobufDepth, maxProtobufMessages} from '../../limits.ts';
import {type GroupVersionKind, type KubeObject, parseGroupVersion} from '../../object.ts';
import {normalize} from '../decode.ts';
import {typeByKind} from '../types.ts';
import {decodeProtobuf, encodeList, encodeProtobuf, encodeRaw, encodeWatchFrame} from './protobuf.ts';

interface Golden {
  id: string;
  json?: KubeObject;
  jsonLines?: {type: string; object: KubeObject}[];
  protobuf: string;
}

const readGolden = (url: URL): Golden[] =>
  readFileSync(url, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const golden = readGolden(new URL('./testdata/golden.jsonl', import.meta.url));
const objects = (rows: Golden[]) => rows.filter((row) => row.json?.kind !== undefined) as (Golden & {json: KubeObject})[];
const gvkOf = (object: KubeObject): GroupVersionKind => ({...parseGroupVersion(object.apiVersion)!, kind: object.kind});
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const configMap: GroupVersionKind = {group: '', version: 'v1', kind: 'ConfigMap'};

/** An empty list and none are the same bytes. */
const noEmptyLists = (object: object) => JSON.stringify(object).replaceAll(':[]', ':null');

describe('the reference’s own bytes', () => {
  test.each(objects(golden).map((row) => [row.id, row] as const))('%s is written as the reference writes it', (_id, row) => {
    expect(base64(encodeProtobuf(row.json))).toBe(row.protobuf);
  });

  test.each(
    objects(golden)
      .filter((row) => typeByKind(gvkOf(row.json)) && row.id !== 'partial-list')
      .map((row) => [row.id, row] as const),
  )('%s is read as its JSON', (_id, row) => {
    const {object} = decodeProtobuf(Buffer.from(row.protobuf, 'base64'), {defaults: gvkOf(row.json)});
    // An empty list and none are the same bytes.
    expect(JSON.stringify(object)).toBe(JSON.stringify(row.json).replace('"items":[]}', '"items":null}'));
  });

  test('a watch is frames with their length before them', () => {
    for (const row of golden.filter((row) => row.jsonLines)) {
      const frames = row.jsonLines!.map(({type, object}) => encodeWatchFrame(type, encodeProtobuf(object)));
      expect(base64(Buffer.concat(frames))).toBe(row.protobuf);
    }
  });

  test('a list made item by item is the list made at once', () => {
    const {json} = objects(golden).find((row) => row.id === 'configmap')!;
    const list = {group: '', version: 'v1', kind: 'ConfigMapList'};
    const {kind: _kind, apiVersion: _version, ...item} = json;
    const whole = {kind: 'ConfigMapList', apiVersion: 'v1', metadata: {resourceVersion: '7', continue: 'x'}, items: [item, item]};
    expect(base64(encodeList(list, whole.metadata, [json, json]))).toBe(base64(encodeProtobuf(whole as unknown as KubeObject)));
  });
});

const facts = new URL('../../../../shared/facts/', import.meta.url);

describe.skipIf(!existsSync(facts))('all rows of the facts (skipped where ../shared is absent)', () => {
  test('are written byte for byte, but for raw JSON that was sent with spaces in it', () => {
    const different = objects(readGolden(new URL('protobuf.jsonl', facts)))
      .filter((row) => base64(encodeProtobuf(row.json)) !== row.protobuf)
      .filter((row) => row.json.kind !== 'ControllerRevision');
    expect(different.map((row) => row.id)).toEqual([]);
  });

  test('valid objects come back as they were', () => {
    const valid: Record<string, {object: KubeObject}> = JSON.parse(readFileSync(new URL('valid-objects.json', facts), 'utf8'));
    for (const {object: given} of Object.values(valid)) {
      const gvk = gvkOf(given);
      if (!typeByKind(gvk)) continue;
      const object = normalize(withoutItemKinds(given), gvk);
      const {object: back} = decodeProtobuf(encodeProtobuf(object), {defaults: gvk});
      expect(JSON.parse(noEmptyLists(back))).toEqual(JSON.parse(noEmptyLists(object)));
    }
  });

  /** Templates of claims may name their kind in JSON; a message has no place for it. */
  function withoutItemKinds(object: KubeObject): KubeObject {
    const copy = structuredClone(object);
    for (const claim of copy['spec']?.volumeClaimTemplates ?? []) {
      delete claim.kind;
      delete claim.apiVersion;
    }
    return copy;
  }
});

describe('values at their edges', () => {
  const roundTrip = (object: KubeObject) => decodeProtobuf(encodeProtobuf(object), {defaults: gvkOf(object)}).object;
  const pod = (spec: object): KubeObject => normalize({spec: spec as never}, {group: '', version: 'v1', kind: 'Pod'});

  test('numbers below zero and up to 2^53', () => {
    const object = pod({priority: -2147483648, activeDeadlineSeconds: Number.MAX_SAFE_INTEGER, securityContext: {runAsUser: -1}});
    expect(roundTrip(object)).toEqual(object);
  });

  test('numbers beyond 2^53 come as near as a double does', () => {
    const object = pod({activeDeadlineSeconds: 2 ** 62 + 2 ** 20});
    expect(roundTrip(object)['spec'].activeDeadlineSeconds).toBe(2 ** 62 + 2 ** 20);
  });

  test('quantities are read into their normal spelling', () => {
    const {object} = decodeProtobuf(encodeProtobuf({...pod({}), spec: {overhead: {cpu: '1000m', memory: '1024Mi'}}}), {
      defaults: {group: '', version: 'v1', kind: 'Pod'},
    });
    expect(object['spec'].overhead).toEqual({cpu: '1', memory: '1Gi'});
  });

  test('ports are numbers or names', () => {
    const object: KubeObject = normalize(
      {spec: {ports: [{port: 1, targetPort: 'web'}, {port: 2, targetPort: 80}, {port: 3}]}},
      {group: '', version: 'v1', kind: 'Service'},
    );
    expect(roundTrip(object)).toEqual(object);
  });

  test('microseconds are kept, and times before 1970', () => {
    const object: KubeObject = normalize(
      {
        metadata: {creationTimestamp: '1969-12-31T23:59:58Z'},
        spec: {renewTime: '2026-01-02T03:04:05.000006Z', acquireTime: '1960-01-02T03:04:05.600000Z'},
      },
      {group: 'coordination.k8s.io', version: 'v1', kind: 'Lease'},
    );
    expect(roundTrip(object)).toEqual(object);
  });

  test('a schema is a schema, a list of them, or yes and no', () => {
    const schema = (more: object) => ({
      group: 'x.example.com',
      scope: 'Cluster',
      names: {plural: 'foos', kind: 'Foo'},
      versions: [{name: 'v1', served: true, storage: true, schema: {openAPIV3Schema: {type: 'object', ...more}}}],
    });
    for (const more of [
      {additionalProperties: false},
      {additionalProperties: true},
      {additionalProperties: {type: 'string'}},
      {properties: {a: {type: 'array', items: {type: 'integer', default: 3, enum: [1, 2, 3], maximum: 1.5}}}},
      {dependencies: {a: ['b', 'c'], d: {type: 'string'}}, 'x-kubernetes-list-map-keys': ['a'], $ref: 'x'},
    ]) {
      const object: KubeObject = normalize({spec: schema(more)} as never, {
        group: 'apiextensions.k8s.io',
        version: 'v1',
        kind: 'CustomResourceDefinition',
      });
      expect(roundTrip(object)).toEqual(object);
    }
  });

  test('keys are sorted as bytes, whatever they are called', () => {
    const data = Object.fromEntries([
      ['\u{1f600}', '1'],
      ['\uffee', '2'],
      ['b', '3'],
      ['a', '4'],
    ]);
    Object.defineProperty(data, '__proto__', {value: '5', enumerable: true, configurable: true, writable: true});
    const object: KubeObject = {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'a'}, data};
    const raw = Buffer.from(encodeRaw(object));
    expect(raw.indexOf('\uffee')).toBeLessThan(raw.indexOf('\u{1f600}'));
    const back = roundTrip(object);
    expect(Object.entries(back['data']).sort()).toEqual(Object.entries(data).sort());
    expect(Object.getPrototypeOf(back['data'])).toBe(Object.prototype);
  });

  test('options, bindings, evictions, token requests and scales are read too', () => {
    for (const object of [
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
        preconditions: {uid: 'u'},
        propagationPolicy: 'Orphan',
        dryRun: ['All'],
      },
      {kind: 'Eviction', apiVersion: 'policy/v1', metadata: {name: 'p'}, deleteOptions: {gracePeriodSeconds: 3}},
      {kind: 'Binding', apiVersion: 'v1', metadata: {name: 'p'}, target: {kind: 'Node', name: 'n'}},
      {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: {},
        spec: {audiences: ['a'], expirationSeconds: 600},
        status: {token: '', expirationTimestamp: null},
      },
      {kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {name: 's'}, spec: {replicas: 3}, status: {replicas: 2, selector: 'a=b'}},
    ] as unknown as KubeObject[]) {
      const whole = normalize(object as never, gvkOf(object));
      expect(roundTrip(whole)).toEqual(whole);
    }
  });
});

describe('what strangers send', () => {
  const refusal = (body: Uint8Array, defaults = configMap): string => {
    try {
      decodeProtobuf(body, {defaults});
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 400) return error.status.message!;
      throw error;
    }
    return '';
  };
  const envelope = 'k8s\0\n\x0f\n\x02v1\x12\tConfigMap';

  // Each as the reference answered.
  test.each([
    ['nothing', '', 'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)'],
    [
      'text',
      'hello world',
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (68656c6c6f20776f726c64)',
    ],
    ['magic alone', 'k8s\0', 'the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)'],
    [
      'an envelope cut short',
      'k8s\0\n\x0f\n\x02v1\x12\tConfig',
      'the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a0f0a0276311209436f6e666967)',
    ],
    [
      'another kind',
      'k8s\0\n\x0c\n\x02v1\x12\x06Secret\x12\x05\n\x03\n\x01a',
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'a kind that is none',
      'k8s\0\n\x0a\n\x02v1\x12\x04Nope',
      'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'a number for a name',
      `${envelope}\x12\x05\n\x03\x08\x01a`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field Name',
    ],
    [
      'an illegal wire type',
      `${envelope}\x12\x02\x0f\x01`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 7 for field ObjectMeta',
    ],
    [
      'field zero',
      `${envelope}\x12\x02\x00\x01`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: illegal tag 0 (wire type 0)',
    ],
    [
      'a tag without end',
      `${envelope}\x12\x0c${'\xff'.repeat(12)}`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: integer overflow',
    ],
    [
      'the end of no group',
      `${envelope}\x12\x02\xfc\x07`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: wiretype end group for non-group',
    ],
    [
      'a group without end',
      `${envelope}\x12\x07\n\x03\n\x01a\xfb\x07`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
    ],
    [
      'a length below zero',
      `${envelope}\x12\x0b\n${'\xff'.repeat(9)}\x01`,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: negative length found during unmarshaling',
    ],
  ])('%s is refused in the reference’s words', (_what, body, message) => {
    expect(refusal(bytesOf(body))).toBe(message);
  });

  test('a DELETE says it without ceremony', () => {
    const defaults = {group: '', version: 'v1', kind: 'DeleteOptions'};
    expect(refusal(bytesOf('k8s\0\n\x13\n\x02v1\x12\rDeleteOptions\x12\x02\x08'), defaults)).toBe('unexpected EOF');
    expect(refusal(bytesOf(envelope), defaults)).toBe(
      'no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    );
  });

  test('a kind left out is what the path expects; fields that nobody knows are passed over', () => {
    const {object, gvk} = decodeProtobuf(bytesOf('k8s\0\n\x04\n\x02v1\x12\x0c\n\x03\n\x01a\xfb\x07\xfc\x07\xf8\x07\x01'), {
      defaults: configMap,
    });
    expect(gvk).toEqual(configMap);
    expect(object).toEqual({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'a'}});
  });

  test('what is nested without end, or empty without end, is refused', () => {
    const crd = {group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition'};
    let schema: object = {type: 'object'};
    for (let depth = 0; depth < maxProtobufDepth; depth++) schema = {not: schema};
    const object = {spec: {versions: [{schema: {openAPIV3Schema: schema}}]}};
    const deep = encodeProtobuf({kind: crd.kind, apiVersion: 'apiextensions.k8s.io/v1', metadata: {}, ...object});
    expect(refusal(deep, crd)).toContain('nested too deeply');
    const spec = Buffer.alloc(2 * (maxProtobufMessages + 1));
    for (let at = 0; at < spec.length; at += 2) spec[at] = (2 << 3) | 2;
    const header = (tag: number, length: number) => Buffer.from([tag, (length & 127) | 128, ((length >> 7) & 127) | 128, length >> 14]);
    const raw = Buffer.concat([header(0x12, spec.length), spec]);
    const body = Buffer.concat([bytesOf('k8s\0\n\x09\n\x02v1\x12\x03Pod'), header(0x12, raw.length), raw]);
    expect(refusal(body, {group: '', version: 'v1', kind: 'Pod'})).toContain('too many messages');
  });

  test('no cut and no changed byte makes anything else than an object or a 400', () => {
    const bodies = objects(golden)
      .filter((row) => typeByKind(gvkOf(row.json)))
      .map((row) => ({gvk: gvkOf(row.json), bytes: Buffer.from(row.protobuf, 'base64')}));
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.nat(), fc.integer({min: 0, max: 255}), fc.boolean(), ({gvk, bytes}, where, byte, cut) => {
        const at = where % bytes.length;
        const changed = cut ? bytes.subarray(0, at) : Buffer.from(bytes);
        if (!cut) changed[at] = byte;
        refusal(changed, gvk);
      }),
      {numRuns: 1500},
    );
  });
});
