/** An operator written with controller-runtime finds here what it would find in envtest, and what owners leave is collected. */
import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {operator} from './programs.ts';

const storyLimitMs = 120_000;
let cluster: Cluster;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator-'));
  cluster = await startCluster({inMemory: true});
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig);
});

afterAll(async () => {
  await cluster?.close();
  await rm(folder, {recursive: true, force: true});
});

test(
  'is elected, reconciles, repairs, finalizes, and leaves nothing behind',
  async () => {
    const namespace = {kind: 'Namespace', apiVersion: 'v1', metadata: {name: 'story'}};
    await cluster.api.client.create({groupVersion: 'v1', resource: 'namespaces'}, namespace);
    const run = promisify(execFile);
    const {stdout} = await run(operator!, ['-kubeconfig', join(folder, 'kubeconfig'), '-namespace', 'story', '-count', '20']);
    const {reconciled, finalized, wrong} = JSON.parse(stdout) as {reconciled: number; finalized: number; wrong: string[]};
    expect(wrong).toEqual([]);
    expect(finalized).toBeGreaterThanOrEqual(20);
    expect(reconciled).toBeGreaterThan(100);
  },
  storyLimitMs,
);
