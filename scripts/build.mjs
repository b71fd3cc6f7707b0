/**
 * Builds dist/: the command, the library, the data that they read at run time and, with --types, the declarations.
 *   node scripts/build.mjs [--types] [--if-stale]
 */
import {execFileSync} from 'node:child_process';
import {chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {dataBeside} from './data-beside.mjs';
import {hasNewer} from './fresh.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const sources = ['shared', 'localstack', 'agent', 'scripts/build.mjs', 'scripts/data-beside.mjs', 'package.json'];

/** Native, or fond of worker files of its own: stays in node_modules. */
const external = ['lmdb', 'pino', 'msgpackr', 'ordered-binary', 'weak-lru-cache'];

/** Whether dist/ is younger than everything that it is made of. Some ten milliseconds. */
export function isFresh() {
  const built = statSync(stamp, {throwIfNoEntry: false})?.mtimeMs;
  return built !== undefined && sources.every((source) => !hasNewer(join(root, source), built));
}

export async function build({types = false} = {}) {
  const {build: bundle} = await import('esbuild');
  const startedAt = Date.now();
  // Beside it and then in its place: a server that starts meanwhile must not find half of it.
  const fresh = join(root, '.cache', 'dist');
  rmSync(fresh, {recursive: true, force: true});
  mkdirSync(fresh, {recursive: true});
  await bundle({
    absWorkingDir: root,
    entryPoints: {cli: 'localstack/cli/bin.ts', index: 'localstack/library.ts', nodeagent: 'agent/cli/bin.ts'},
    outdir: fresh,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.11',
    // Modules before CommonJS: smaller, and their names survive.
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    chunkNames: '[name]-[hash]',
    external,
    banner: {js: "import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);"},
    plugins: [dataBeside(root), lateStaysOut],
    logLevel: 'warning',
  });
  for (const folder of dataFolders(join(root, 'shared'))) {
    cpSync(folder, join(fresh, relative(root, folder)), {recursive: true});
  }
  if (types) emitTypes(fresh);
  for (const command of ['cli.js', 'nodeagent.js']) chmodSync(join(fresh, command), 0o755);
  // What scripts/bundle-functions.mjs has put there is not ours.
  if (existsSync(join(dist, 'functions'))) renameSync(join(dist, 'functions'), join(fresh, 'functions'));
  rmSync(dist, {recursive: true, force: true});
  renameSync(fresh, dist);
  writeFileSync(stamp, '');
  process.stderr.write(`built dist/ in ${Date.now() - startedAt} ms\n`);
}

/** ES modules through and through, and quicker to load as one file. */
const bundledLate = new Set(['@peculiar/x509']);

/** `import()` of a CommonJS package would lose its named exports in a bundle; Node finds them. */
const lateStaysOut = {
  name: 'late-stays-out',
  setup(pluginBuild) {
    pluginBuild.onResolve({filter: /^[^./]/}, ({path, kind}) =>
      kind === 'dynamic-import' && !path.startsWith('node:') && !bundledLate.has(path) ? {path, external: true} : undefined,
    );
  },
};

function dataFolders(folder) {
  return readdirSync(folder, {withFileTypes: true})
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => (entry.name === 'data' ? [join(folder, entry.name)] : dataFolders(join(folder, entry.name))));
}

function emitTypes(out) {
  const types = join(out, 'types');
  const config = join(root, 'tsconfig.types.json');
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config, '--outDir', types], {stdio: 'inherit'});
  // Declarations name each other by their sources' names.
  for (const file of readdirSync(types, {recursive: true, withFileTypes: true})) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath ?? file.path, file.name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from|import\()\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const flags = new Set(process.argv.slice(2));
  if (!flags.has('--if-stale') || !isFresh() || (flags.has('--types') && !existsSync(join(dist, 'types'))))
    await build({types: flags.has('--types')});
}
