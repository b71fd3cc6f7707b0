import {describe, expect, test} from 'vitest';
import {readManifest} from './manifest.ts';

const read = (text: string, source: 'file' | 'http' = 'file') =>
  readManifest(Buffer.from(text), {source, from: '/m/a.yaml', node: 'Node-1', now: 0});
const names = (text: string) => read(text).map(({metadata}) => metadata.name);
const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: img}]}\n';
const other = pod.replace('name: web', 'name: other');

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
    expect(names(JSON.stringify(list))).toEqual(['a-node-1', 'b-node-1']);
    expect(names(JSON.stringify({...list, items: []}))).toEqual([]);
  });

  test('can be several documents, some of them empty, and begin with a brace though it is YAML', () => {
    expect(names(`# two pods\n---\n${pod}---\n\n---\n# nothing\n--- # the other\n${other}...\n`)).toEqual(['web-node-1', 'other-node-1']);
    expect(names('{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: img}]}}')).toEqual([
      'web-node-1',
    ]);
  });

  test('keeps dashes within a text', () => {
    const text = pod.replace('image: img', 'image: img, args: ["--- a", "b ---"]');
    expect(read(text)[0]!.spec.containers[0]!.args).toEqual(['--- a', 'b ---']);
  });

  test('that was copied from an API begins its life here', () => {
    const text = pod.replace('{name: web}', '{name: web, uid: 1-2-3, deletionTimestamp: "2026-01-01T00:00:00Z"}');
    const [copied] = read(`${text}status: {phase: Failed}\n`);
    expect(copied!.metadata).toMatchObject({uid: '1-2-3'});
    expect([copied!.metadata.deletionTimestamp, copied!.status]).toEqual([undefined, undefined]);
  });

  test.each([
    ['nothing', '', 'holds no object'],
    ['only comments', '# soon\n---\n', 'holds no object'],
    ['no object', '- a\n- b\n', 'holds no object'],
    ['another kind', 'apiVersion: v1\nkind: Secret\n', 'not a Pod or PodList'],
    ['another kind in its second document', `${pod}---\napiVersion: v1\nkind: Secret\n`, 'holds "Secret" of "v1"'],
    ['no YAML', 'a: [', 'yaml'],
    ['no containers', 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {}\n', 'spec.containers'],
    ['an impossible name', pod.replace('name: web', 'name: ../x'), 'metadata.name'],
    ['an id that leads elsewhere', pod.replace('name: web', 'name: web, uid: ../../x'), 'metadata.uid: "../../x" is no uid'],
    ['no name', pod.replace('name: web', 'labels: {}'), 'no name'],
    ['wrong types', pod.replace('[{name: c, image: img}]', '5'), 'containers'],
    ['a pod twice', `${pod}---\n${pod.replace('img', 'img2')}`, 'holds pod "default/web-node-1" twice'],
    ['bytes that are no text', '\u0000\u0001', 'control characters'],
    ['too much YAML', `${pod}# ${'x'.repeat(2 * 1024 * 1024)}`, 'manifest in YAML is longer than 2097152 bytes'],
    ['too much of anything', 'x'.repeat(10 * 1024 * 1024 + 1), 'manifest is longer than 10485760 bytes'],
  ])('with %s is refused', (_, text, words) => {
    expect(() => read(text)).toThrow(words);
  });
});
