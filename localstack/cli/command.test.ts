/** The built command as users run it: real processes, real signals. */
import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {request} from 'node:https';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let home: string;

beforeAll(async () => {
  const {build, isFresh} = await import(join(root, 'scripts/build.mjs'));
  if (!isFresh()) await build();
  home = await mkdtemp(join(tmpdir(), 'command-'));
}, 60_000);
afterAll(() => rm(home, {recursive: true, force: true}));

interface Run {
  child: ChildProcess;
  out(): string;
  err(): string;
  exit: Promise<number | null>;
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function run(...args: string[]): Run {
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), ...args], {cwd: home, env: {...process.env, CLUSTERLESS_DATA: ''}});
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const exit = new Promise<number | null>((done) =>
    child.on('close', (code) => {
      running.delete(child);
      done(code);
    }),
  );
  return {child, out: () => out, err: () => err, exit};
}

async function ready(server: Run): Promise<string> {
  const line = await new Promise<string>((done, fail) => {
    server.child.stdout!.on('data', () => server.out().includes('\n') && done(server.out()));
    void server.exit.then((code) => fail(new Error(`exited with ${code}: ${server.err()}`)));
  });
  const url = /^ready (https:\/\/127\.0\.0\.1:\d+) kubeconfig=\S+ in \d+ ms\n$/.exec(line)?.[1];
  if (!url) throw new Error(`not the line that was promised: ${line}`);
  return url;
}

const statusOf = (url: string): Promise<number> =>
  new Promise((done, fail) => {
    const call = request(url, {rejectUnauthorized: false, agent: false}, (response) => {
      response.resume();
      done(response.statusCode!);
    });
    call.on('error', fail);
    call.end();
  });

describe('clusterless up', () => {
  test('says one line when it is ready, and ends with 0 on SIGTERM', async () => {
    const server = run('up', '--in-memory', '--data', 'a', '--listen', '127.0.0.1:0');
    const url = await ready(server);
    expect(await statusOf(`${url}/readyz`)).toBe(200);
    expect(await readFile(join(home, 'a/kubeconfig'), 'utf8')).toContain(url);
    const status = run('status', '--data', 'a', '-o', 'json');
    expect(await status.exit).toBe(0);
    expect(JSON.parse(status.out())).toMatchObject({url, ready: true, inMemory: true});
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(server.out().split('\n')).toHaveLength(2);
    expect(existsSync(join(home, 'a/server.json'))).toBe(false);
    expect(await run('status', '--data', 'a').exit).toBe(3);
  });

  test('while it drains, readyz fails and the rest is served; a second signal ends it at once', async () => {
    const server = run('up', '--in-memory', '--data', 'b', '--listen', '127.0.0.1:0', '--shutdown-delay-duration', '10m');
    const url = await ready(server);
    server.child.kill('SIGTERM');
    while ((await statusOf(`${url}/readyz`)) === 200);
    expect(await statusOf(`${url}/readyz`)).toBe(500);
    expect(await statusOf(`${url}/livez`)).toBe(200);
    server.child.kill('SIGINT');
    expect(await server.exit).toBe(1);
  });

  test('a taken port, a taken folder and an unreadable certificate are one line and a non-zero exit', async () => {
    const server = run('up', '--data', 'c', '--listen', '127.0.0.1:0');
    const url = await ready(server);
    const refusals: [Run, RegExp][] = [
      [
        run('up', '--in-memory', '--data', 'd', '--listen', url.slice('https://'.length)),
        /^clusterless: cannot listen on \S+: the port is in use;.*\n$/,
      ],
      [
        run('up', '--data', 'c', '--listen', '127.0.0.1:0'),
        new RegExp(`^clusterless: data folder \\S+: another process holds it;.*serves it at ${url}\n$`),
      ],
      // It would need no store, but the kubeconfig there is the other's.
      [
        run('up', '--in-memory', '--data', 'c', '--listen', '127.0.0.1:0'),
        new RegExp(`^clusterless: data folder \\S+: process \\d+ serves it at ${url};.*\n$`),
      ],
    ];
    await mkdir(join(home, 'e/pki'), {recursive: true});
    await writeFile(join(home, 'e/pki/ca.crt'), 'junk');
    await writeFile(join(home, 'e/pki/ca.key'), 'junk');
    refusals.push([
      run('up', '--data', 'e', '--listen', '127.0.0.1:0'),
      /^clusterless: cannot read certificate \S+ca\.crt: not a PEM certificate\n$/,
    ]);
    for (const [refused, words] of refusals) {
      expect(await refused.exit).toBe(1);
      expect(refused.err()).toMatch(words);
      expect(refused.out()).toBe('');
    }
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
  });
});

test('what one cluster exports another imports, but for what each has of its own', async () => {
  const [from, to] = [
    run('up', '--in-memory', '--data', 'f', '--listen', '127.0.0.1:0'),
    run('up', '--in-memory', '--data', 'g', '--listen', '127.0.0.1:0'),
  ];
  await Promise.all([ready(from), ready(to)]);
  const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'taken-along', namespace: 'default'}, data: {k: 'v'}};
  await writeFile(join(home, 'map.json'), JSON.stringify(map));
  expect(await run('import', 'map.json', '--data', 'f').exit).toBe(0);
  const exported = run('export', '--data', 'f');
  expect(await exported.exit).toBe(0);
  await writeFile(join(home, 'all.json'), exported.out());
  const imported = run('import', 'all.json', '--data', 'g');
  expect(await imported.exit).toBe(0);
  expect(imported.err()).toMatch(/^1 created, 0 replaced, \d+ existed already, 0 failed at /);
  const again = run('export', '--data', 'g', '--strip', '-n', 'default');
  expect(await again.exit).toBe(0);
  expect(again.out()).toContain('"name":"taken-along","namespace":"default"');
  for (const {child, exit} of [from, to]) {
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  }
}, 30_000);
