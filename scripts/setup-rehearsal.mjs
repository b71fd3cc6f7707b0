/** The part of `npm run test:setup` that rehearsals need: the emulator in a Python environment of its own, Node 24, Lambda's runtime client. */
import {spawnSync} from 'node:child_process';
import {copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

/** Pinned: the rehearsal replaces one of its functions (localstack/rehearse/emulator/launch.py). */
const ministack = '1.5.33';
const node24 = '24.21.0';
/** Its native half is left out, since it needs a compiler; ours stands in. */
const runtimeClient = '4.0.2';

/** Yields a line for each thing, made or not. `leftMs()`: the time that is left for all of it. */
export function* setUpRehearsal(root, leftMs) {
  const cache = join(root, '.cache');
  yield emulator(join(cache, 'ministack'), leftMs);
  const platform = `node-${process.platform}-${process.arch}`;
  yield fromNpm(join(cache, 'node24'), platform, node24, join('bin', 'node'), leftMs);
  const line = fromNpm(join(cache, 'ric'), 'aws-lambda-ric', runtimeClient, 'index.mjs', leftMs);
  const client = join(cache, 'ric', 'node_modules', 'aws-lambda-ric');
  if (existsSync(client)) {
    // Where it asks for its native module, a folder of that name does as well.
    const stand = join(client, 'rapid-client.node');
    mkdirSync(stand, {recursive: true});
    copyFileSync(join(root, 'localstack/rehearse/lambda/rapid-client.cjs'), join(stand, 'rapid-client.cjs'));
    writeFileSync(join(stand, 'package.json'), '{"main":"rapid-client.cjs"}\n');
  }
  yield line;
}

function emulator(folder, leftMs) {
  const python = join(folder, 'bin', 'python');
  const has = `import importlib.metadata as m; assert m.version('ministack') == '${ministack}'`;
  if (existsSync(python) && spawnSync(python, ['-c', has], {stdio: 'ignore'}).status === 0) return 'ministack: there already';
  rmSync(folder, {recursive: true, force: true});
  return made('ministack', leftMs, ['python3', '-m', 'venv', folder], [python, '-m', 'pip', 'install', '-q', `ministack==${ministack}`]);
}

/** In a folder of its own: a package whose command is called `node` must not come before the project's. */
function fromNpm(folder, name, version, file, leftMs) {
  if (existsSync(join(folder, 'node_modules', name, file))) return `${name}: there already`;
  mkdirSync(folder, {recursive: true});
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const install = ['npm', 'install', '--prefix', folder, '--no-save', '--no-package-lock', '--ignore-scripts', '--silent'];
  return made(name, leftMs, [...install, `${name}@${version}`]);
}

function made(name, leftMs, ...commands) {
  const began = Date.now();
  for (const [command, ...args] of commands) {
    const {status, stderr, error} = spawnSync(command, args, {encoding: 'utf8', timeout: Math.max(1, leftMs())});
    if (error || status !== 0) return `${name}: not made: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
  }
  return `${name}: made in ${Math.round((Date.now() - began) / 1000)} s`;
}
