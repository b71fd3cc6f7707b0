/** For tests: the engine as one JavaScript file that a plain `node` can run, wherever TypeScript needs a loader. */

import {mkdir, mkdtemp, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));

export interface Bundle {
  file: string;
  remove(): Promise<void>;
}

/**
 * @param exported a name of open.ts to export
 * @param spoil changes the text of open.ts, to show that a test notices
 */
export async function bundled(exported: string, spoil?: (source: string) => string): Promise<Bundle> {
  const {build} = await import('esbuild');
  // Under node_modules, so that the bundle finds lmdb.
  const cache = join(here, '../../../node_modules/.cache');
  await mkdir(cache, {recursive: true});
  const folder = await mkdtemp(join(cache, 'engine-'));
  const file = join(folder, 'engine.mjs');
  const source = await readFile(join(here, 'open.ts'), 'utf8');
  const contents = spoil ? spoil(source) : source;
  if (spoil && contents === source) throw new Error('nothing was spoiled');
  await build({
    stdin: {contents: `${contents}\nexport {${exported} as exported};`, resolveDir: here, sourcefile: 'open.ts', loader: 'ts'},
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['lmdb'],
    outfile: file,
    logLevel: 'error',
  });
  return {file, remove: () => rm(folder, {recursive: true, force: true})};
}
