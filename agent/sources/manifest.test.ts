import {describe, expect, test} from 'vitest';
import {readManifest} from './manifest.ts';

const read = (text: string, source: 'file' | 'http' = 'file') =>
  readManifest(Buffer.from(text), {source, from: '/m/a.yaml', node: 'Node-1', now: 0});
const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: img}]}\n';

describe('a manifest', () => {
  test('becomes a pod of this node, defaulted, with a name of its own and an id from what it says', () => {
    const [one] = read(pod);
    expect(one).toMatchObject({
      metadata: {name: 'web-node-1', namespace: 'default', annotations: {'kubernetes.io/config.source': 'file'}},
      spec: {
        nodeName: 'node-1',
        restartPolicy: 'Always',
        containers: [{imagePullPolicy: 'Always'}],
        tolerations: [{operator: 'Exists', effect: 'NoExecute'}],
      },
    });
    expect(one!.metadata.uid).toMatch(/^[0-9a-f]{32}$/);
    expect(read(pod)[0]!.metadata.uid).toBe(one!.metadata.uid);
    expect(read(pod.replace('img', 'img2'))[0]!.metadata.uid).not.toBe(one!.metadata.uid);
    expect(read(pod, 'http')[0]!.spec.tolerations).toBeUndefined();
  });

  test('can be a list, in JSON', () => {
    const item = {metadata: {name: 'a'}, spec: {containers: [{name: 'c', image: 'i'}]}};
    const list = {apiVersion: 'v1', kind: 'PodList', items: [item, {...item, metadata: {name: 'b'}}]};
    expect(read(JSON.stringify(list)).map(({metadata}) => metadata.name)).toEqual(['a-node-1', 'b-node-1']);
  });

  test.each([
    ['nothing', '', 'holds no object'],
    ['another kind', 'apiVersion: v1\nkind: Secret\n', 'not a Pod or PodList'],
    ['no YAML', 'a: [', 'yaml'],
    ['no containers', 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {}\n', 'spec.containers'],
    ['an impossible name', pod.replace('name: web', 'name: ../x'), 'metadata.name'],
    ['no name', pod.replace('name: web', 'labels: {}'), 'no name'],
    ['wrong types', pod.replace('[{name: c, image: img}]', '5'), 'containers'],
  ])('with %s is refused', (_, text, words) => {
    expect(() => read(text)).toThrow(words);
  });
});
