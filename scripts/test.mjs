/**
 * `npm test`: looks at what this machine has, installs nothing, runs what can be run, and says at the end what it left out and why.
 * The suffix of a test file says what it needs: x.test.ts nothing, x.kubectl.test.ts kubectl, and so on. Arguments go to vitest.
 */
import {spawn, spawnSync} from 'node:child_process';
import {accessSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build, isFresh} from './build.mjs';
import {findRuntime} from './runtime.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cacheBin = join(root, '.cache', 'bin');
const dynamoJar = join(root, '.cache', 'dynamo', 'DynamoDBLocal.jar');
const viaSetup = '`npm run test:setup` makes one';
const runtime = findRuntime();

/** What tests may need, the variable by which they find it, and what to say where it is missing. */
const needs = {
  kubectl: {
    variable: 'TEST_KUBECTL',
    find: () => program('kubectl', ['version', '--client']),
    without: `no kubectl (${viaSetup} where go is)`,
  },
  helm: {variable: 'TEST_HELM', find: () => program('helm', ['version', '--short']), without: `no helm (${viaSetup} where go is)`},
  informer: {variable: 'TEST_INFORMER', find: () => built('informer'), without: `no informers' client (${viaSetup} where go is)`},
  operator: {
    variable: 'TEST_OPERATOR',
    find: () => built('operator'),
    without: `no operator of controller-runtime (${viaSetup} where go is)`,
  },
  go: {variable: 'TEST_GO', find: () => program('go', ['version']), without: 'no go'},
  java: {variable: 'TEST_JAVA', find: () => program('java', ['-version']), without: 'no java'},
  reference: {
    variable: 'TEST_REFERENCE',
    find: referenceBinaries,
    without: 'no kube-apiserver and etcd (name their folder in TEST_REFERENCE)',
  },
  runtime: {
    variable: 'TEST_RUNTIME',
    find: () => runtime.tools?.containerd,
    without: `no container runtime: ${runtime.lacks} is missing (${viaSetup} for root on Debian)`,
  },
  rehearse: {
    variable: 'TEST_REHEARSE',
    find: rehearsalTools,
    without: `no emulator, Node 24 and Lambda runtime client (${viaSetup} where python3 is)`,
  },
  dynamo: {
    variable: 'TEST_DYNAMO',
    find: () => (existsSync(dynamoJar) && program('java', ['-version']) ? dynamoJar : undefined),
    without: `no DynamoDB Local (${viaSetup} where java is)`,
  },
};

function program(name, probe) {
  for (const folder of [cacheBin, ...(process.env.PATH ?? '').split(delimiter)]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
    } catch {
      continue;
    }
    if (spawnSync(path, probe, {stdio: 'ignore', timeout: 10_000}).status === 0) return path;
  }
  return undefined;
}

const built = (name) => (existsSync(join(cacheBin, name)) ? join(cacheBin, name) : undefined);

function referenceBinaries() {
  return existsSync(join(cacheBin, 'kube-apiserver')) && existsSync(join(cacheBin, 'etcd')) ? cacheBin : undefined;
}

function rehearsalTools() {
  const cache = join(root, '.cache');
  return ['ministack', 'node24', 'ric'].every((name) => existsSync(join(cache, name))) ? cache : undefined;
}

/** As far as can be told without running it. */
const testsIn = (file) => Math.max(1, readFileSync(file, 'utf8').match(/^\s*(?:test|it|story)(?:\.\w+)*\(/gm)?.length ?? 1);

const skipped = [];
const env = {...process.env};
const found = {};
for (const [need, {variable, find}] of Object.entries(needs)) {
  const path = env[variable] || find();
  if (path) env[variable] = found[need] = path;
}
process.stdout.write(
  `machine: ${Object.keys(needs)
    .map((need) => `${need} ${found[need] ? 'yes' : 'no'}`)
    .join(', ')}, node ${process.version}\n`,
);

const exclude = [];
for (const file of testFiles(root)) {
  const need = /\.(\w+)\.test\.ts$/.exec(file)?.[1];
  if (need && needs[need] && !found[need]) {
    exclude.push('--exclude', relative(root, file));
    skipped.push({what: relative(root, file), count: testsIn(file), why: needs[need].without});
  }
}

function testFiles(folder) {
  return readdirSync(folder, {withFileTypes: true}).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist' || entry.name.startsWith('.')) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? testFiles(path) : entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

// Tests of the command run what users run.
if (!isFresh()) await build();

const scratch = mkdtempSync(join(tmpdir(), 'clusterless-test-'));
const report = join(scratch, 'report.json');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const args = [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...exclude, ...process.argv.slice(2)];
const code = await new Promise((resolve) =>
  spawn(process.execPath, args, {cwd: root, env, stdio: 'inherit'}).on('exit', (status) => resolve(status ?? 1)),
);

let passed = 0;
let failed = 0;
try {
  for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    if (file.status === 'failed' && file.assertionResults.length === 0) failed++;
    for (const result of file.assertionResults) {
      if (result.status === 'passed') passed++;
      else if (result.status === 'failed') failed++;
      else
        skipped.push({
          what: `${relative(root, file.name)}: ${result.fullName.trim()}`,
          count: 1,
          why: 'by its own condition, which its title names',
        });
    }
  }
} catch {
  failed++;
}
rmSync(scratch, {recursive: true, force: true});
// An error outside of any test fails the run as well.
if (code !== 0 && failed === 0) failed = 1;

for (const {what, why} of skipped) process.stdout.write(`skipped ${what}: ${why}\n`);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.reduce((sum, {count}) => sum + count, 0)} skipped\n`);
process.exit(failed > 0 ? 1 : 0);
