import {describe, expect, test} from 'vitest';
import type {JsonObject} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {parseStrategicPatch, strategicMerge} from './strategic-merge.ts';

const deploymentType = typeByKind({group: 'apps', version: 'v1', kind: 'Deployment'})!;
const configMapType = typeByKind({group: '', version: 'v1', kind: 'ConfigMap'})!;

const podSpec = {
  volumes: [
    {name: 'v1', emptyDir: {}},
    {name: 'v2', emptyDir: {}},
  ],
  containers: [
    {
      name: 'c1',
      image: 'i:1',
      args: ['a', 'b'],
      env: [
        {name: 'A', value: '1'},
        {name: 'B', value: '2'},
        {name: 'C', value: '3'},
      ],
      ports: [{containerPort: 80, protocol: 'TCP'}],
    },
    {name: 'c2', image: 'i:2'},
    {name: 'c3', image: 'i:3'},
  ],
  nodeSelector: {n: '1'},
  imagePullSecrets: [{name: 'x'}],
  tolerations: [{key: 'a'}, {key: 'b'}],
};
const [c1, c2, c3] = podSpec.containers as unknown as [JsonObject, JsonObject, JsonObject];
const [v1, v2] = podSpec.volumes;

type PodSpec = Record<string, unknown>;
const patchSpec = (patch: JsonObject): PodSpec => {
  const document = {spec: {template: {spec: podSpec}}} as unknown as JsonObject;
  const before = JSON.stringify([document, patch]);
  const result = strategicMerge(document, {spec: {template: {spec: patch}}}, deploymentType);
  expect(JSON.stringify([document, patch])).toBe(before);
  return (result as unknown as {spec: {template: {spec: PodSpec}}}).spec.template.spec;
};

const inContainer = (patch: JsonObject): JsonObject => ({containers: [{name: 'c1', ...patch}]});
const container = (change: JsonObject): PodSpec => ({containers: [{...c1, ...change}, c2, c3]});

describe('a deployment patched', () => {
  test.each<[string, JsonObject, PodSpec]>([
    ['an item is deleted by its key', {containers: [{name: 'c2', $patch: 'delete'}]}, {containers: [c1, c3]}],
    ['deleting what is not there does nothing', {containers: [{name: 'nope', $patch: 'delete'}]}, {containers: [c1, c2, c3]}],
    ['a list is replaced', {containers: [{$patch: 'replace'}, {name: 'z', image: 'q'}]}, {containers: [{name: 'z', image: 'q'}]}],
    [
      'replace wins over delete',
      {containers: [{name: 'c1', $patch: 'delete'}, {$patch: 'replace'}, {name: 'q'}]},
      {containers: [{name: 'q'}]},
    ],
    ['the item that says replace is not part of it', {containers: [{name: 'c1', $patch: 'replace', image: 'q'}]}, {containers: []}],
    ['an empty list changes nothing', {containers: []}, {containers: [c1, c2, c3]}],
    ['null removes a list', {containers: null}, {containers: undefined}],
    ['a new item leads', {volumes: [{name: 'n', hostPath: {path: '/x'}}]}, {volumes: [{name: 'n', hostPath: {path: '/x'}}, v1, v2]}],
    [
      'an item twice merges twice',
      {
        containers: [
          {name: 'c1', image: 'y'},
          {name: 'c1', image: 'z'},
        ],
      },
      container({image: 'z'}),
    ],
    [
      'a list is put in order, what it does not name keeps its place',
      {
        '$setElementOrder/containers': [{name: 'c3'}, {name: 'n'}, {name: 'c1'}],
        containers: [{name: 'n'}],
      },
      {containers: [c2, c3, {name: 'n'}, c1]},
    ],
    ['an order alone', {'$setElementOrder/containers': [{name: 'c3'}, {name: 'c2'}]}, {containers: [c1, c3, c2]}],
    [
      'deletions need no place in the order',
      {
        '$setElementOrder/containers': [{name: 'c3'}, {name: 'c1'}],
        containers: [
          {name: 'c2', $patch: 'delete'},
          {name: 'c1', image: 'y'},
        ],
      },
      {containers: [c3, {...c1, image: 'y'}]},
    ],
    [
      'nested lists merge by their own keys',
      inContainer({
        env: [
          {name: 'B', value: '9'},
          {name: 'Z', value: '8'},
          {name: 'A', $patch: 'delete'},
        ],
      }),
      container({
        env: [
          {name: 'B', value: '9'},
          {name: 'Z', value: '8'},
          {name: 'C', value: '3'},
        ],
      }),
    ],
    [
      'a nested order',
      inContainer({'$setElementOrder/env': [{name: 'Z'}, {name: 'C'}, {name: 'A'}], env: [{name: 'Z', value: '1'}]}),
      container({
        env: [
          {name: 'Z', value: '1'},
          {name: 'B', value: '2'},
          {name: 'C', value: '3'},
          {name: 'A', value: '1'},
        ],
      }),
    ],
    ['atomic lists are replaced', inContainer({args: ['z']}), container({args: ['z']})],
    ['atomic lists lose single values', inContainer({'$deleteFromPrimitiveList/args': ['a']}), container({args: ['b']})],
    ['atomic lists are put in order', inContainer({'$setElementOrder/args': ['b', 'a']}), container({args: ['b', 'a']})],
    ['lists of objects without a key are replaced', {tolerations: [{key: 'z'}]}, {tolerations: [{key: 'z'}]}],
    [
      'ports merge by their number',
      inContainer({ports: [{containerPort: 81}, {containerPort: 80, name: 'x'}]}),
      container({ports: [{containerPort: 81}, {containerPort: 80, protocol: 'TCP', name: 'x'}]}),
    ],
    [
      'retainKeys changes the member of a union',
      {volumes: [{name: 'v1', $retainKeys: ['name', 'hostPath'], hostPath: {path: '/x'}}]},
      {volumes: [{name: 'v1', hostPath: {path: '/x'}}, v2]},
    ],
    ['retainKeys in a map', {nodeSelector: {$retainKeys: ['q'], q: '2'}}, {nodeSelector: {q: '2'}}],
    ['a map is replaced', {nodeSelector: {$patch: 'replace', q: '2'}}, {nodeSelector: {q: '2'}}],
    ['a map is emptied', {nodeSelector: {$patch: 'delete'}}, {nodeSelector: {}}],
    [
      'deleting a member of a union empties it, null removes it',
      {
        volumes: [
          {name: 'v1', emptyDir: {$patch: 'delete'}},
          {name: 'v2', emptyDir: null, configMap: {name: 'q'}},
        ],
      },
      {
        volumes: [
          {name: 'v1', emptyDir: {}},
          {name: 'v2', configMap: {name: 'q'}},
        ],
      },
    ],
    ['a key of another kind is another key', {imagePullSecrets: [{name: 1}]}, {imagePullSecrets: [{name: 1}, {name: 'x'}]}],
    [
      'directives over nothing are dropped, and nulls with them',
      {
        initContainers: [
          {name: 'i', image: null},
          {name: 'j', $patch: 'delete'},
        ],
        affinity: {$patch: 'delete'},
      },
      {initContainers: [{name: 'i'}], affinity: undefined},
    ],
    [
      'an item that is new keeps what it holds',
      {containers: [{name: 'c4', env: [{name: 'B', $patch: 'delete'}]}]},
      {
        containers: [{name: 'c4', env: [{name: 'B', $patch: 'delete'}]}, c1, c2, c3],
      },
    ],
  ])('%s', (_fact, patch, expected) => {
    expect(patchSpec(patch)).toEqual({...podSpec, ...expected});
  });

  test.each<[JsonObject, string]>([
    [{containers: [{image: 'x'}]}, 'map: map[image:x] does not contain declared merge key: name'],
    [{containers: [{$patch: 'delete'}]}, 'map: map[$patch:delete] does not contain declared merge key: name'],
    [{containers: [{$patch: 'merge', name: 'c1'}]}, 'merging lists cannot yet be specified in the patch'],
    [{containers: [{$patch: 'foo', name: 'c1'}]}, 'unknown patch type: foo in map: map[$patch:foo name:c1]'],
    [{imagePullSecrets: ['x']}, 'list element types are not identical: [[map[name:x]] [x]]'],
    [{imagePullSecrets: [null]}, 'list element types are not identical: [[map[name:x]] [<nil>]]'],
    [
      {'$setElementOrder/containers': [{name: 'c3'}], containers: [{name: 'c1', image: 'z'}]},
      "The order in patch list:\n[map[image:z name:c1]]\n doesn't match $setElementOrder list:\n[map[name:c3]]\n",
    ],
    [
      {'$setElementOrder/containers': [{name: 'c3'}, {name: 'c1'}], containers: [{name: 'c1'}, {name: 'c3'}]},
      "The order in patch list:\n[map[name:c1] map[name:c3]]\n doesn't match $setElementOrder list:\n[map[name:c3] map[name:c1]]\n",
    ],
    [
      {'$setElementOrder/containers': [{nam: 'c3'}], containers: [{name: 'c1'}]},
      'map: map[nam:c3] does not contain declared merge key: name',
    ],
    [{'$setElementOrder/containers': ['c3'], containers: [{name: 'c1'}]}, 'expected a map[string]interface {}, but received a string'],
    [{'$setElementOrder/containers': 'c3'}, 'expected a []interface {}, but received a string'],
    [{volumes: [{name: 'v1', $retainKeys: ['name'], hostPath: {path: '/x'}}]}, 'invalid patch format of retainKeys'],
  ])('refused: %j', (patch, message) => {
    expect(() => patchSpec(patch)).toThrow(expect.objectContaining({reason: 'BadRequest', message}));
  });
});

describe('metadata patched', () => {
  const metadata = {name: 'p', labels: {a: '1'}, finalizers: ['1', '2', '3']};
  const merged = (patch: JsonObject) => strategicMerge({metadata}, {metadata: patch}, configMapType).metadata;

  test.each<[string, JsonObject, JsonObject]>([
    ['values join a set in front', {finalizers: ['9', '1']}, {finalizers: ['9', '1', '2', '3']}],
    ['values are not doubled', {finalizers: ['1', '1']}, {finalizers: ['1', '2', '3']}],
    ['values leave a set', {'$deleteFromPrimitiveList/finalizers': ['1', '7']}, {finalizers: ['2', '3']}],
    ['a set is put in order', {'$setElementOrder/finalizers': ['3', '1']}, {finalizers: ['2', '3', '1']}],
    [
      'ordered, then thinned',
      {'$setElementOrder/finalizers': ['9', '3'], finalizers: ['9'], '$deleteFromPrimitiveList/finalizers': ['1']},
      {finalizers: ['9', '2', '3']},
    ],
    ['a deletion that is no list does nothing', {'$deleteFromPrimitiveList/finalizers': '1'}, {}],
    ['a field that the type does not have is passed on', {nope: {a: 1}}, {nope: {a: 1}}],
    ['a directive that nobody knows is a field', {$foo: 1}, {$foo: 1}],
    ['only what is retained stays', {$retainKeys: ['name']}, {labels: undefined as never, finalizers: undefined as never}],
  ])('%s', (_fact, patch, expected) => {
    expect(merged(patch)).toEqual({...metadata, ...expected});
  });

  test.each<[JsonObject, string, string]>([
    [{labels: {$patch: 'explode'}}, 'BadRequest', 'unknown patch type: explode in map: map[$patch:explode]'],
    [{labels: {$patch: 3}}, 'BadRequest', 'unknown patch type: %!s(int64=3) in map: map[$patch:3]'],
    [{$deleteFromPrimitiveList: ['1']}, 'BadRequest', 'invalid patch format of primitive list'],
    [{'$deleteFromPrimitiveListX/finalizers': ['1']}, 'BadRequest', 'invalid patch format of primitive list'],
    [{$setElementOrder: ['1']}, 'BadRequest', 'invalid patch format of setElementOrder list'],
    [{'$setElementOrder/nope': ['a']}, 'BadRequest', 'unable to find api field in struct ObjectMeta for the json field "nope"'],
    [{finalizers: ['9', 3]}, 'BadRequest', 'list element types are not identical: [[1 2 3] [9 3]]'],
    [{$retainKeys: 'labels'}, 'BadRequest', 'invalid patch format of retainKeys'],
  ])('refused: %j', (patch, reason, message) => {
    expect(() => merged(patch)).toThrow(expect.objectContaining({reason, message}));
  });
});

test('bodies that are no patch', () => {
  const parse = (text: string) => parseStrategicPatch(new TextEncoder().encode(text));
  expect(() => parse('[]')).toThrow('json: cannot unmarshal array into Go value of type map[string]interface {}');
  expect(() => parse('{')).toThrow('unexpected end of JSON input');
  expect(parse('null')).toEqual({patch: {}, strictErrors: []});
  expect(parse('{"a":1,"a":2}').strictErrors).toEqual(['duplicate field "a"']);
});

test('prototypes are members like any other', () => {
  const patch = JSON.parse('{"data":{"__proto__":"x"},"__proto__":{"polluted":1}}');
  const result = strategicMerge({data: {a: '1'}}, patch, configMapType);
  expect(JSON.stringify(result)).toBe('{"data":{"a":"1","__proto__":"x"},"__proto__":{"polluted":1}}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
