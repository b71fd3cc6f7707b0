/**
 * `npm run bench`: builds the server and the load client, and measures; see test/bench/main.ts for the flags.
 * `npm run bench -- dynamo`: what the store over DynamoDB calls and costs; see test/bench/dynamo.ts.
 */
import {spawnSync} from 'node:child_process';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {build as bundle} from 'esbuild';
import {build, isFresh} from './build.mjs';
import {withUsage} from './usage.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [first, ...others] = process.argv.slice(2);
if (first === 'dynamo') {
  const run = join(root, 'scripts', 'run.mjs');
  process.exit(spawnSync(process.execPath, [run, join(root, 'test', 'bench', 'dynamo.ts'), ...others], {stdio: 'inherit'}).status ?? 1);
}
if (!isFresh()) await build();
const out = join(root, '.cache', 'bench');
await bundle({
  absWorkingDir: root,
  entryPoints: {main: 'test/bench/main.ts', load: 'test/bench/load.ts'},
  outdir: out,
  outExtension: {'.js': '.mjs'},
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.11',
  packages: 'external',
  logLevel: 'warning',
});
const args = process.argv.slice(2);
const {bench} = await import(pathToFileURL(join(out, 'main.mjs')).href);
await withUsage(join(root, 'test/bench/main.ts'), args, () =>
  bench(args, process.env.BENCH_CLI ?? join(root, 'dist', 'cli.js'), join(out, 'load.mjs')),
);
