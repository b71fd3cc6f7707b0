import {expect, test} from 'vitest';
import type {KubeObject, ObjectMeta} from '../../object.ts';
import {cachedBoundObjects} from './bound-objects.ts';

type Listener = (key: string, object: KubeObject | undefined, old: KubeObject | undefined) => void;

test('a type is read when first asked for, and followed from then on', async () => {
  const pod = (metadata: ObjectMeta): KubeObject => ({kind: 'Pod', apiVersion: 'v1', metadata});
  const first = pod({name: 'p', uid: '1'});
  const asked: string[] = [];
  const forgotten: string[] = [];
  let change: Listener = () => {};
  const caches = {
    async of(type: string) {
      asked.push(type);
      return {
        get: (key: string) => (key === 'ns/p' ? first : undefined),
        onChange(listener: Listener) {
          change = listener;
          listener('ns/p', first, undefined);
        },
      };
    },
  };
  const objects = cachedBoundObjects(caches, (resource, key) => forgotten.push(`${resource} ${key}`));
  expect(await objects.get('pods', 'ns', 'p')).toEqual({uid: '1'});
  expect(await objects.get('pods', 'ns', 'q')).toBeUndefined();
  expect(asked).toEqual(['pods']);
  change('ns/p', {...first, status: {}}, first);
  expect(forgotten).toEqual([]);
  change('ns/p', pod({name: 'p', uid: '1', deletionTimestamp: '2026-01-01T00:00:00Z'}), first);
  change('ns/p', pod({name: 'p', uid: '2'}), first);
  change('ns/p', undefined, first);
  expect(forgotten).toEqual(['pods ns/p', 'pods ns/p', 'pods ns/p']);
});
