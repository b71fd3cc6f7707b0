import {chmod, mkdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {giveToGroup} from './ownership.ts';

const group = process.getgid?.() ?? 0;
const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;

test('a volume is given to its group, and nothing that its links lead to', async () => {
  const root = await scratch('nodeagent-ownership-');
  const [volume, outside] = [join(root, 'volume'), join(root, 'outside')];
  await mkdir(join(volume, 'sub'), {recursive: true});
  await mkdir(outside);
  for (const file of [join(volume, 'sub/own'), join(outside, 'secret')]) {
    await writeFile(file, 'x');
    await chmod(file, 0o600);
  }
  await chmod(outside, 0o700);
  await symlink(join(outside, 'secret'), join(volume, 'file'));
  await symlink(outside, join(volume, 'sub/folder'));
  await symlink('nowhere', join(volume, 'dangling'));
  await giveToGroup(volume, group);
  expect(await modeOf(join(volume, 'sub/own'))).toBe(0o660);
  expect((await modeOf(join(volume, 'sub'))) & 0o2070).toBe(0o2070);
  expect(await modeOf(outside)).toBe(0o700);
  expect(await modeOf(join(outside, 'secret'))).toBe(0o600);
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('x');
});
