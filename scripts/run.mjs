/** Runs a TypeScript file of this repository: node scripts/run.mjs FILE [ARGUMENTS]. It is bundled first, so any Node from 20 on will do. */
import {basename, dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {build} from 'esbuild';
import {withUsage} from './usage.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...rest] = process.argv.slice(2);
if (!file) {
  console.error('usage: node scripts/run.mjs FILE [ARGUMENTS]');
  process.exit(2);
}
const entry = resolve(file);
const outfile = join(root, '.cache', 'run', `${basename(file, '.ts')}.mjs`);
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.11',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
  // Files beside a source stay where they are: what it reads by its own URL must be found there.
  plugins: [{name: 'own-url', setup: keepUrls}],
});
process.argv.splice(1, process.argv.length - 1, entry, ...rest);
await withUsage(entry, rest, () => import(pathToFileURL(outfile).href));

function keepUrls({onLoad}) {
  onLoad({filter: /\.ts$/}, async ({path}) => {
    if (path.includes('node_modules')) return undefined;
    const {readFile} = await import('node:fs/promises');
    const text = await readFile(path, 'utf8');
    if (!text.includes('import.meta.url')) return undefined;
    return {contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts'};
  });
}
