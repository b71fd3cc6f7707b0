/**
 * `npm run bundle`: each function as Lambda gets it, in dist/functions/NAME: one module, what it loads later, source maps, and the data
 * that it reads. Prints what they weigh.
 *   --only NAME[,NAME]   some of them
 *   --if-stale           nothing when they are younger than all that they are made of
 *   --measure            how long a fresh Node 24 takes to load each, best and median of some runs
 *   --quiet              no sizes
 */
import {spawnSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {build} from 'esbuild';
import {dataBeside} from './data-beside.mjs';
import {hasNewer} from './fresh.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'dist', 'functions');

const stamp = join(target, '.bundled');
const sources = ['shared', 'functions', 'scripts/bundle-functions.mjs', 'scripts/data-beside.mjs', 'package-lock.json'];

/** Where nothing but the store that others write is opened, these doors stay shut. */
const never = ['lmdb'];

export async function bundleFunctions({only} = {}) {
  const rows = await rowsOf();
  const names = Object.keys(rows).filter((name) => (!only || only.includes(name)) && existsSync(join(root, rows[name].entry)));
  mkdirSync(target, {recursive: true});
  const sizes = [];
  for (const name of names) sizes.push(await bundle(name, rows[name]));
  if (!only) writeFileSync(stamp, '');
  return sizes;
}

/** Whether the bundles are younger than everything that they are made of. */
function isFresh() {
  const bundled = statSync(stamp, {throwIfNoEntry: false})?.mtimeMs;
  return bundled !== undefined && sources.every((source) => !hasNewer(join(root, source), bundled));
}

async function bundle(name, {entry}) {
  // Beside it and then in its place: who deploys meanwhile must not find half of it.
  const out = join(root, '.cache', 'functions', `${name}-${process.pid}`);
  rmSync(out, {recursive: true, force: true});
  const reads = new Set();
  const {metafile} = await build({
    absWorkingDir: root,
    entryPoints: {index: entry},
    outdir: out,
    outExtension: {'.js': '.mjs'},
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    chunkNames: '[name]-[hash]',
    external: never,
    metafile: true,
    plugins: [
      dataBeside(
        root,
        (folder) => reads.add(folder),
        (text) => text.replace(/require\((['"])yaml\1\)/, "require('./yaml.cjs')"),
      ),
    ],
    banner: {js: "import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);"},
    logLevel: 'warning',
  });
  for (const folder of reads) cpSync(join(root, folder), join(out, folder), {recursive: true});
  const readsYaml = Object.values(metafile.outputs).some(({inputs}) => inputs[yamlReader] !== undefined);
  if (readsYaml) await bundleYaml(out);
  const outputs = Object.entries(metafile.outputs).filter(([path]) => !path.endsWith('.map'));
  const bytes = outputs.reduce((sum, [, {bytes: size}]) => sum + size, 0);
  const opened = outputs.filter(([, {entryPoint}]) => openedFirst.includes(entryPoint)).map(([path]) => path);
  const seen = new Set();
  const first = [`${relative(root, out)}/index.mjs`, ...opened].reduce((sum, path) => sum + reachable(metafile.outputs, path, seen), 0);
  const packages = new Set(
    outputs.flatMap(([, {inputs}]) => Object.keys(inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])),
  );
  const externals = outputs.flatMap(([, {imports}]) =>
    imports.filter(({external, path}) => external && !isBuiltin(path)).map(({path}) => path),
  );
  writeFileSync(
    join(out, 'contents.json'),
    `${JSON.stringify({packages: [...packages].sort(), externals: [...new Set(externals)], opened: opened.map((path) => basename(path))})}\n`,
  );
  mkdirSync(target, {recursive: true});
  rmSync(join(target, name), {recursive: true, force: true});
  renameSync(out, join(target, name));
  return {name, entryBytes: first, bytes, files: outputs.length, packages: [...packages].sort()};
}

const yamlReader = 'shared/schema/yaml.ts';

/** Read by `require` with the first YAML that comes, since who needs it cannot wait: a file of its own, in no entry's way. */
const bundleYaml = (out) =>
  build({
    absWorkingDir: root,
    entryPoints: {yaml: './node_modules/yaml/dist/index.js'},
    outdir: out,
    outExtension: {'.js': '.cjs'},
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    logLevel: 'warning',
  });

const builtin = new Set(createRequire(import.meta.url)('node:module').builtinModules);
const isBuiltin = (path) => path.startsWith('node:') || builtin.has(path);

/** Loaded by every environment, before its first request. */
const openedFirst = [
  'shared/storage/dynamo/calls.ts',
  'shared/storage/dynamo/aws.ts',
  'shared/storage/dynamo/open.ts',
  'functions/kit/parameters.ts',
];

/** What is parsed before the first request: the entry and what it imports at once. */
function reachable(outputs, from, seen) {
  if (seen.has(from) || !outputs[from]) return 0;
  seen.add(from);
  const {bytes, imports} = outputs[from];
  return imports
    .filter(({kind, external}) => kind === 'import-statement' && !external)
    .reduce((sum, {path}) => sum + reachable(outputs, path, seen), bytes);
}

/** The rows are TypeScript: bundled, they are a module that can be imported. */
async function rowsOf() {
  const {outputFiles} = await build({
    absWorkingDir: root,
    entryPoints: ['functions/functions.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  const {functions} = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return functions;
}

/** Node 24 where `npm run test:setup` has fetched one, else the one that runs this. */
function nodeForLambda() {
  const fetched = join(root, '.cache/node24/node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  return existsSync(fetched) ? fetched : process.execPath;
}

const runs = 11;

/** Milliseconds from the start of the import to a handler and loaded clients of AWS, in a process of its own each time; and of CPU, which others on the machine do not lengthen. */
export function measureLoad(name, node = nodeForLambda()) {
  const folder = join(target, name);
  const {opened} = JSON.parse(readFileSync(join(folder, 'contents.json'), 'utf8'));
  const urls = ['index.mjs', ...opened].map((file) => pathToFileURL(join(folder, file)).href);
  const script = `
    const started = performance.now();
    const cpu = process.cpuUsage();
    const [{handler}] = await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)));
    if (typeof handler !== 'function') throw new Error('no handler');
    const {user, system} = process.cpuUsage(cpu);
    process.stdout.write(JSON.stringify([performance.now() - started, (user + system) / 1000]));`;
  const times = Array.from({length: runs}, () => {
    const {status, stdout, stderr} = spawnSync(node, ['--input-type=module', '-e', script], {encoding: 'utf8'});
    if (status !== 0) throw new Error(`${name} does not load: ${stderr}`);
    return JSON.parse(stdout);
  });
  const sorted = (at) => times.map((time) => time[at]).sort((a, b) => a - b);
  return {name, bestMs: sorted(0)[0], medianMs: sorted(0)[runs >> 1], cpuMs: sorted(1)[runs >> 1]};
}

const kb = (bytes) => `${(bytes / 1024).toFixed(0).padStart(6)} KB`;

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  if (args.includes('--if-stale') && isFresh()) process.exit(0);
  const at = args.indexOf('--only');
  const sizes = await bundleFunctions(at >= 0 ? {only: args[at + 1].split(',')} : {});
  if (!args.includes('--quiet'))
    for (const {name, entryBytes, bytes, packages} of sizes)
      console.log(`${name.padEnd(20)} ${kb(entryBytes)} at start ${kb(bytes)} in all, ${packages.length} packages`);
  if (args.includes('--measure')) {
    const node = nodeForLambda();
    const version = spawnSync(node, ['--version'], {encoding: 'utf8'}).stdout.trim();
    for (const {name} of sizes) {
      const {bestMs, medianMs, cpuMs} = measureLoad(name, node);
      console.log(
        `${name.padEnd(20)} loads in ${medianMs.toFixed(0)} ms (best ${bestMs.toFixed(0)}, CPU ${cpuMs.toFixed(0)}) on Node ${version}`,
      );
    }
  }
}
