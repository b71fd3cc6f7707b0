/** Folders for tests, gone when the file that asked for them is done. */
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll} from 'vitest';

const made: string[] = [];

afterAll(async () => {
  for (const folder of made) await rm(folder, {recursive: true, force: true});
});

export async function scratch(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  made.push(folder);
  return folder;
}
