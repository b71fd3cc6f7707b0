/** The README's examples, as they stand there, run by Node on the built package. */
import {execFile} from 'node:child_process';
import {cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const exampleLimitMs = 30_000;

const readme = await readFile(join(root, 'README.md'), 'utf8');
const library = readme.slice(readme.indexOf('## The library'));
const examples = [...library.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!);

describe("the README's examples of the library", () => {
  let folder: string;
  beforeAll(async () => {
    const {build, isFresh} = await import(join(root, 'scripts/build.mjs'));
    if (!isFresh()) await build();
    // As somebody has it who installed the package: what it needs of the source tree must be in dist/.
    folder = await mkdtemp(join(tmpdir(), 'library-'));
    const modules = join(folder, 'node_modules');
    await mkdir(join(modules, '@kubernetes'), {recursive: true});
    const installed = join(modules, 'clusterless');
    await cp(join(root, 'dist'), join(installed, 'dist'), {recursive: true});
    await cp(join(root, 'package.json'), join(installed, 'package.json'));
    await symlink(join(root, 'node_modules'), join(installed, 'node_modules'));
    await symlink(join(root, 'node_modules/@kubernetes/client-node'), join(modules, '@kubernetes/client-node'));
  }, exampleLimitMs);
  afterAll(() => rm(folder, {recursive: true, force: true}));

  const play = async (name: string, code: string) => {
    const file = join(folder, name);
    await writeFile(file, code);
    const {stdout} = await run(process.execPath, [file], {cwd: folder});
    return stdout;
  };

  test('there are three', () => expect(examples).toHaveLength(3));

  test('a cluster, a client and a copy', {timeout: exampleLimitMs}, async () => {
    const [example] = examples;
    // The copy has what the cluster has, and what is written to one is not in the other.
    const told = example!.replace(
      'await copy.close();',
      `const other = new KubeConfig();
other.loadFromString(copy.kubeconfig);
const theirs = other.makeApiClient(CoreV1Api);
console.log((await theirs.readNamespacedConfigMap({namespace: 'default', name: 'a'})).data.k);
await theirs.deleteNamespacedConfigMap({namespace: 'default', name: 'a'});
console.log((await core.listNamespacedConfigMap({namespace: 'default'})).items.map(({metadata}) => metadata.name).join());
console.log((await theirs.listNamespacedConfigMap({namespace: 'default'})).items.map(({metadata}) => metadata.name).join());
await copy.close();`,
    );
    expect(told).not.toBe(example);
    expect(await play('cluster.mjs', told)).toBe('v\na,kube-root-ca.crt\nkube-root-ca.crt\n');
  });

  test('a copy for each test of a suite', {timeout: exampleLimitMs}, async () => {
    expect(await play('operator.test.mjs', examples[2]!)).toMatch(/has a cluster of its own.*pass 3\n.*fail 0\n/s);
  });

  test('the API without a server', {timeout: exampleLimitMs}, async () => {
    const told = `${examples[1]}console.log(status, JSON.parse(Buffer.from(body)).items.map(({metadata}) => metadata.name).join());`;
    expect(await play('api.mjs', told)).toBe('200 default,kube-node-lease,kube-public,kube-system\n');
  });
});
