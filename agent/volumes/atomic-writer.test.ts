import {readdir, readFile, readlink, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {type Payload, writeAtomically} from './atomic-writer.ts';

const payload = (files: Record<string, string>, mode = 0o644): Payload =>
  new Map(Object.entries(files).map(([path, text]) => [path, {data: Buffer.from(text), mode}]));

describe('a folder that changes as one', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await scratch('nodeagent-atomic-');
  });

  test('shows each entry by way of one link', async () => {
    expect(await writeAtomically(folder, payload({a: '1', 'sub/b': '2'}, 0o440))).toBe(true);
    expect((await readdir(folder)).filter((name) => !name.startsWith('..2'))).toEqual(['..data', 'a', 'sub']);
    expect(await readlink(join(folder, 'a'))).toBe('..data/a');
    expect(await readFile(join(folder, 'sub/b'), 'utf8')).toBe('2');
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o440);
  });

  test('is left alone when nothing changes, and leaves nothing of the last generation', async () => {
    await writeAtomically(folder, payload({a: '1', b: '1'}));
    expect(await writeAtomically(folder, payload({a: '1', b: '1'}))).toBe(false);
    expect(await writeAtomically(folder, payload({a: '2'}))).toBe(true);
    expect((await readdir(folder)).filter((name) => !name.startsWith('..'))).toEqual(['a']);
    expect(await readdir(folder)).toHaveLength(3);
  });

  test('that cannot be written whole leaves nothing behind', async () => {
    await expect(writeAtomically(folder, payload({a: '1', 'a/b': '2'}))).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([
    '../x',
    'a/../../x',
    '/etc/passwd',
    '..data',
    '..',
    'a//b',
    '',
    `${'x'.repeat(300)}`,
  ])('nothing is written for the path %j', async (path) => {
    await expect(writeAtomically(folder, payload({ok: '1', [path]: 'x'}))).rejects.toThrow('invalid path');
    expect(await readdir(folder)).toEqual([]);
  });
});
