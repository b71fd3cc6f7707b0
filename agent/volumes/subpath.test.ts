import {mkdir, readlink, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import type {Mounter} from './mounts.ts';
import {mountSubpath} from './subpath.ts';

describe('a part of a volume', () => {
  let root: string;
  let volume: string;
  let outside: string;
  let mounted: string[];
  let mounter: Mounter;
  beforeEach(async () => {
    root = await scratch('nodeagent-subpath-');
    [volume, outside] = [join(root, 'volume'), join(root, 'outside')];
    for (const folder of [volume, outside]) await mkdir(folder);
    mounted = [];
    mounter = {
      mount: async () => {},
      unmount: async () => {},
      below: async () => [],
      bind: async (source) => void mounted.push(await readlink(source)),
    };
  });
  const mount = (part: string) => mountSubpath(mounter, volume, part, join(root, 'target'), false);

  test('is what was opened; what is missing is made', async () => {
    await mount('x/y');
    expect(mounted).toEqual([join(volume, 'x/y')]);
    expect((await stat(join(volume, 'x/y'))).isDirectory()).toBe(true);
  });

  test('can be a file, behind a link of the volume', async () => {
    await mkdir(join(volume, '..data'));
    await writeFile(join(volume, '..data/key'), 'v');
    await symlink('..data/key', join(volume, 'key'));
    await mount('key');
    expect(mounted).toEqual([join(volume, '..data/key')]);
    expect((await stat(join(root, 'target'))).isFile()).toBe(true);
  });

  test.each([
    ['a link to elsewhere', 'link'],
    ['a path through a link to elsewhere', 'link/below'],
    ['a path upwards', '../outside'],
    ['a whole path', '/etc'],
    ['a link to nowhere', 'dangling'],
  ])('is refused: %s', async (_, part) => {
    await symlink(outside, join(volume, 'link'));
    await symlink(join(root, 'absent'), join(volume, 'dangling'));
    await expect(mount(part)).rejects.toThrow('subPath');
    expect(mounted).toEqual([]);
    expect(await stat(join(outside, 'below')).catch(() => undefined)).toBeUndefined();
  });
});
