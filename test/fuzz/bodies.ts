/** What a stranger may put into a body: objects a little or very wrong, patches, and bytes that are no document at all. */
import type {Json, JsonObject, KubeObject} from '../../shared/object.ts';
import {setKey} from '../../shared/schema/json.ts';
import {encodeProtobuf} from '../../shared/schema/protobuf/protobuf.ts';
import type {Dice} from './dice.ts';

export interface Body {
  bytes: Uint8Array;
  contentType: string | undefined;
}

const protobuf = 'application/vnd.kubernetes.protobuf';
const poison = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'a.b/c',
  '\u0000',
  '💥',
  'metadata',
  '$patch',
  '$ref',
];

const strange = (dice: Dice): Json =>
  dice.pick<() => Json>([
    () => null,
    () => true,
    () => '',
    () => 'x'.repeat(dice.below(400)),
    () =>
      dice.pick([
        '1e400',
        'NaN',
        '-1',
        '100%',
        '1Gi',
        '2026-01-01T00:00:00Z',
        '2026-13-45T99:99:99Z',
        '\ud800',
        '\u0000',
        '../..',
        '1.2.3.4',
        '::1',
        'None',
        '{}',
      ]),
    () => dice.pick([0, -1, 1, 0.5, 1e21, -1e308, 2 ** 31, 2 ** 53, 2 ** 63, 65_536]),
    () => [],
    () => ({}),
    () => [[[[null]]]],
    () => ({[dice.pick(poison)]: strange(dice)}),
    () => [strange(dice), strange(dice)],
    () => Array.from({length: dice.below(300)}, () => ({name: 'same'})),
    () => nested(dice.pick([6, 60, 600, 6_000])),
  ])();

/** Stands for a value so deep that JSON.stringify cannot write it; spelled out in the text. */
const nested = (depth: number): Json => `@deep${depth}@`;
const spellNested = (text: string): string =>
  text.replace(/"@deep(\d+)@"/g, (_all, depth) => `${'[{"a":'.repeat(Number(depth) / 2)}1${'}]'.repeat(Number(depth) / 2)}`);

/** A copy with some members replaced, removed, doubled or added. */
export function mutated(dice: Dice, object: JsonObject): JsonObject {
  const copy = structuredClone(object);
  for (let change = dice.pick([0, 0, 1, 1, 2, 4]); change > 0; change--) mutateOnce(dice, copy);
  return copy;
}

function mutateOnce(dice: Dice, root: JsonObject): void {
  let node: Json = root;
  for (let depth = 0; depth < 12; depth++) {
    const keys: string[] = Object.keys(node as object);
    const key = keys.length > 0 ? dice.pick(keys) : undefined;
    const inner: Json | undefined = key === undefined ? undefined : (node as JsonObject)[key];
    if (typeof inner === 'object' && inner !== null && dice.chance(0.75)) {
      node = inner;
      continue;
    }
    if (Array.isArray(node)) {
      if (dice.chance(0.4)) node.push(strange(dice));
      else if (node.length > 0) node.push(structuredClone(dice.pick(node)));
      else node.push({});
    } else if (key !== undefined && dice.chance(0.6)) setKey(node as JsonObject, key, strange(dice));
    else if (key !== undefined && dice.chance(0.5)) delete (node as JsonObject)[key];
    else setKey(node as JsonObject, dice.pick([...poison, 'spec', 'status', 'data', 'ownerReferences', 'finalizers']), strange(dice));
    return;
  }
}

const metadataChanges = (dice: Dice): JsonObject =>
  dice.pick<JsonObject>([
    {labels: {a: 'b'}},
    {annotations: {a: 'x'.repeat(dice.pick([1, 1_000, 300_000]))}},
    {finalizers: ['example.com/x']},
    {finalizers: null},
    {uid: 'other'},
    {name: 'other'},
    {namespace: 'other'},
    {resourceVersion: dice.pick(['1', '0', 'x', '99999999999999999999'])},
    {ownerReferences: [{apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u'}]},
    {managedFields: [{manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: strange(dice)}]},
    {generation: -1},
    {deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5},
    {creationTimestamp: null},
    {labels: strange(dice)},
  ]);

const pointers = [
  '/metadata/labels',
  '/metadata/annotations/a',
  '/data',
  '/data/a',
  '/spec',
  '/spec/replicas',
  '/status',
  '',
  '/',
  '/a/b',
  '/metadata',
  '/~0~1',
  '/__proto__/x',
  '/constructor/prototype/x',
  '/spec/ports/0',
  '/spec/ports/-',
  '/kind',
];

function jsonPatchOf(dice: Dice): Json {
  if (dice.chance(0.1)) {
    // Each copies the whole into itself: doubles with every operation.
    const bomb: Json[] = [{op: 'add', path: '/metadata/annotations', value: {a: 'x'.repeat(500)}}];
    for (let at = 0; at < 40; at++) bomb.push({op: 'copy', from: '/metadata', path: `/metadata/labels${dice.below(3)}`});
    return bomb;
  }
  if (dice.chance(0.02)) return Array.from({length: 10_001}, () => ({op: 'test', path: '/kind', value: 'x'}));
  return Array.from(
    {length: dice.below(5)},
    (): Json => ({
      op: dice.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'nope']),
      path: dice.chance(0.95) ? dice.pick(pointers) : strange(dice),
      ...(dice.chance(0.4) && {from: dice.pick(pointers)}),
      ...(dice.chance(0.8) && {value: dice.chance(0.3) ? {labels: {q: 'r'}} : strange(dice)}),
    }),
  );
}

function mergePatchOf(dice: Dice, sample: JsonObject): Json {
  const patch: JsonObject = dice.chance(0.5)
    ? {metadata: metadataChanges(dice)}
    : mutated(dice, dice.chance(0.5) ? sample : {spec: sample['spec'] ?? {}});
  if (dice.chance(0.3))
    setKey(
      patch,
      dice.pick(['$patch', '$setElementOrder/containers', '$deleteFromPrimitiveList/finalizers', '$retainKeys', ...poison]),
      strange(dice),
    );
  if (dice.chance(0.1))
    patch['spec'] = {containers: [{$patch: dice.pick(['delete', 'replace', 'merge', 'bad']), name: 'c'}], $retainKeys: strange(dice)};
  return dice.chance(0.05) ? strange(dice) : patch;
}

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/json',
  '',
];

export function patchBody(dice: Dice, sample: JsonObject): Body {
  const contentType = dice.pick(dice.chance(0.8) ? patchTypes.slice(0, 3) : patchTypes);
  const wantsList = contentType === patchTypes[0] ? dice.chance(0.9) : dice.chance(0.05);
  return {bytes: torn(dice, json(wantsList ? jsonPatchOf(dice) : mergePatchOf(dice, sample))), contentType};
}

const json = (value: Json): Uint8Array => Buffer.from(spellNested(JSON.stringify(value)));

/** Mostly as it is, sometimes cut short or with a byte changed. */
function torn(dice: Dice, bytes: Uint8Array): Uint8Array {
  if (dice.chance(0.92) || bytes.length === 0) return bytes;
  if (dice.chance(0.5)) return bytes.subarray(0, dice.below(bytes.length));
  const copy = Uint8Array.from(bytes);
  for (let flips = 1 + dice.below(4); flips > 0; flips--) copy[dice.below(copy.length)] = dice.below(256);
  return copy;
}

export function objectBody(dice: Dice, sample: JsonObject): Body {
  const roll = dice.random();
  if (roll < 0.05)
    return {bytes: hostile(dice), contentType: dice.pick(['application/json', 'application/yaml', protobuf, 'text/plain', ''])};
  const object = dice.chance(0.55) ? sample : mutated(dice, sample);
  if (dice.chance(0.15)) object['metadata'] = {...(object['metadata'] as JsonObject), ...metadataChanges(dice)};
  if (roll < 0.15) return {bytes: torn(dice, yamlOf(dice, object)), contentType: 'application/yaml'};
  if (roll < 0.3) {
    try {
      return {bytes: torn(dice, encodeProtobuf(object as unknown as KubeObject)), contentType: protobuf};
    } catch {
      // What is too wrong has no message.
      return {bytes: Buffer.concat([Buffer.from('k8s\u0000'), dice.bytes(dice.below(200))]), contentType: protobuf};
    }
  }
  return {
    bytes: torn(dice, json(object)),
    contentType: dice.chance(0.97) ? 'application/json' : dice.pick(['APPLICATION/JSON; charset=utf-8', 'text/xml', ';;', 'application/*']),
  };
}

const yamlOf = (dice: Dice, object: JsonObject): Uint8Array =>
  Buffer.from(
    dice.pick([
      `---\n${JSON.stringify(object, null, 1)}`,
      // Each line stands for ten of the one above it.
      `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[at]}`).join(',')}]`).join('\n')}\nkind: ConfigMap\n`,
      'a: &a [*a]\n',
      '? {a: b}\n: c\n',
      `${'- '.repeat(dice.pick([10, 2_000]))}a`,
      `${'['.repeat(dice.pick([10, 2_000]))}`,
      'kind: ConfigMap\nkind: Secret\n<<: {metadata: {name: x}}\n',
      '!!js/function "x"\n',
      'a: !!binary "gggg"\nb: 0o17\nc: .inf\nd: 2026-01-01\n',
      '%YAML 9.9\n---\na: b\n',
      '\u0000\u0001',
    ]),
  );

/** Bytes that attack a parser rather than a validator. */
const hostile = (dice: Dice): Uint8Array =>
  dice.pick<() => Uint8Array>([
    () => Buffer.from('['.repeat(dice.pick([100, 9_999, 10_001, 200_000]))),
    () => Buffer.from(`${'{"a":'.repeat(dice.pick([100, 9_990]))}1${'}'.repeat(dice.pick([100, 9_990]))}`),
    () =>
      Buffer.from(
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"deep","managedFields":[{"fieldsType":"FieldsV1","fieldsV1":${'{"f:a":'.repeat(4_000)}{}${'}'.repeat(4_000)}}]}}`,
      ),
    () => Buffer.from(`{"data":{"n":${'9'.repeat(dice.pick([20, 400, 100_000]))}}}`),
    () => Buffer.from(`{"metadata":{"generation":1e${dice.below(9_999)}}}`),
    () => Buffer.from('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    () =>
      Buffer.from('{"metadata":{"labels":{"__proto__":"x"},"annotations":{"__proto__":"y","constructor":"z"}},"data":{"__proto__":"w"}}'),
    () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
    () => Buffer.from('{"a":"\\ud800","a":"\\u0000"}'),
    () => Buffer.from(`{${Array.from({length: 20_000}, (_, at) => `"k${at % 7}":1`).join(',')}}`),
    () => Buffer.concat([Buffer.from('k8s\u0000'), dice.bytes(dice.below(300))]),
    () => Buffer.concat([Buffer.from('k8s\u0000'), Buffer.from('0a0f0a02763112095365637265740000'.repeat(3), 'hex')]),
    // A message inside of a message inside of ...
    () => Buffer.concat([Buffer.from('k8s\u0000'), ...Array.from({length: 300}, () => Buffer.from([0x12, 0xff, 0x7f]))]),
    () => dice.bytes(dice.below(2_000)),
    () => new Uint8Array(dice.pick([0, 1, 3 * 1024 * 1024, 3 * 1024 * 1024 + 1])),
    () => Buffer.from(`{"data":{"a":"${'x'.repeat(2_500_000)}"}}`),
  ])();
