/** `clusterless up --node` as users run it: one command, a real runtime, pods; and nothing left when it ends. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {connect} from '../../shared/client/node/connect.ts';
import type {KubeObject} from '../../shared/object.ts';
import {lackingRuntime, startRuntime, type TestRuntime} from '../../test/runtime/containerd.ts';
import {images} from '../../test/runtime/images.ts';
import {leftovers, nothing} from '../../test/runtime/leftovers.ts';

const root = resolve(import.meta.dirname, '../..');
const storyLimitMs = 180_000;
const pods = {groupVersion: 'v1', resource: 'pods', namespace: 'default'};
const nodes = {groupVersion: 'v1', resource: 'nodes'};

interface Up {
  child: ChildProcess;
  said(text: RegExp): Promise<void>;
  /** As Ctrl-C does; the exit code. */
  interrupt(): Promise<number | null>;
}

describe.skipIf(lackingRuntime)(`a cluster with a node in one command${lackingRuntime ? ` (${lackingRuntime} is missing)` : ''}`, () => {
  let runtime: TestRuntime;
  let data: string;
  const running = new Set<ChildProcess>();

  beforeAll(async () => {
    const {build, isFresh} = await import(join(root, 'scripts/build.mjs'));
    if (!isFresh()) await build();
    data = await mkdtemp(join(tmpdir(), 'up-node-'));
    runtime = await startRuntime();
  }, storyLimitMs);

  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await runtime?.stop();
    for (const folder of [data, `${data}-beside`]) await rm(folder, {recursive: true, force: true});
  }, storyLimitMs);

  function up(...flags: string[]): Up {
    const args = ['up', '--data', data, '--listen', '127.0.0.1:0', '--node', 'story', '--node-runtime', runtime.endpoint, ...flags];
    const child = spawn(process.execPath, [join(root, 'dist/cli.js'), ...args]);
    running.add(child);
    child.once('exit', () => running.delete(child));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    return {
      child,
      async said(text) {
        for (; !text.test(output); await pause(50))
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output}`);
      },
      async interrupt() {
        child.kill('SIGINT');
        if (child.exitCode === null) await once(child, 'exit');
        return child.exitCode;
      },
    };
  }

  async function until(name: string, is: (pod: KubeObject) => boolean): Promise<KubeObject> {
    const client = await connect({kubeconfig: join(data, 'kubeconfig')});
    try {
      for (; ; await pause(50)) {
        const pod = await client.get(pods, name).catch(() => undefined);
        if (pod && is(pod)) return pod;
      }
    } finally {
      client.close();
    }
  }

  const isReady = ({status}: KubeObject): boolean =>
    Boolean(status?.conditions?.some(({type, status: is}: {type: string; status: string}) => type === 'Ready' && is === 'True'));
  const startPod = async (name: string): Promise<void> => {
    const client = await connect({kubeconfig: join(data, 'kubeconfig')});
    const containers = [{name: 'web', image: images.web, imagePullPolicy: 'Never'}];
    await client.create(pods, {metadata: {name}, spec: {containers, terminationGracePeriodSeconds: 1}});
    client.close();
  };

  test(
    'a pod that names no node runs on it, and nothing of it is left after Ctrl-C',
    async () => {
      const server = up('--in-memory');
      await server.said(/^node story ready, containerd \S+, in \d+ ms$/m);
      await startPod('web');
      const pod = await until('web', isReady);
      expect(pod['spec'].nodeName).toBe('story');
      expect(await fetch(`http://${pod['status'].podIP}:8080/`).then((answer) => answer.text())).toBe('hello from web\n');
      expect(await server.interrupt()).toBe(0);
      expect(await leftovers(runtime, join(data, 'node', 'root'))).toEqual(nothing);
      expect(existsSync(join(data, 'node'))).toBe(false);
    },
    storyLimitMs,
  );

  test(
    'pods that are kept run on, are taken over by the next one, and end with it; the node says that it is gone',
    async () => {
      const first = up('--keep-pods');
      await first.said(/^node story ready/m);
      await startPod('kept');
      const started = (await until('kept', isReady))['status'].containerStatuses[0].containerID;
      await first.interrupt();
      expect((await runtime.runtime.sandboxes()).map(({metadata}) => metadata.name)).toEqual(['kept']);
      const second = up();
      await second.said(/^node story ready/m);
      expect((await until('kept', isReady))['status'].containerStatuses[0]).toMatchObject({containerID: started, restartCount: 0});
      await second.interrupt();
      expect(await leftovers(runtime, join(data, 'node', 'root'))).toEqual(nothing);
      const plain = spawn(process.execPath, [join(root, 'dist/cli.js'), 'up', '--data', data, '--listen', '127.0.0.1:0']);
      running.add(plain);
      await once(plain.stdout, 'data');
      const client = await connect({kubeconfig: join(data, 'kubeconfig')});
      const {status} = await client.get(nodes, 'story');
      expect(status.conditions.find(({type}: {type: string}) => type === 'Ready')).toMatchObject({status: 'Unknown'});
      client.close();
      plain.kill('SIGTERM');
      await once(plain, 'exit');
    },
    storyLimitMs,
  );

  test(
    'an agent that is killed is started again, and its pods never notice; another one beside it is refused',
    async () => {
      const server = up('--in-memory');
      await server.said(/^node story ready/m);
      await startPod('steady');
      const before = (await until('steady', isReady))['status'].containerStatuses[0];
      const agent = async (): Promise<number> => JSON.parse(await readFile(join(data, 'node', 'node.json'), 'utf8')).pid;
      const killed = await agent();
      process.kill(killed, 'SIGKILL');
      while ((await agent()) === killed) await pause(50);
      await server.said(/(?:runs as node "story".*){2}/s);
      expect((await until('steady', isReady))['status'].containerStatuses[0]).toEqual(before);
      const beside = up('--in-memory', '--data', `${data}-beside`);
      await beside.said(/runs 1 pods of another nodeagent/);
      expect(await beside.interrupt()).toBe(1);
      await server.interrupt();
      expect(await leftovers(runtime, join(data, 'node', 'root'))).toEqual(nothing);
    },
    storyLimitMs,
  );

  test(
    'what a killed one left is removed by reset',
    async () => {
      const server = up();
      await server.said(/^node story ready/m);
      await startPod('orphan');
      await until('orphan', isReady);
      server.child.kill('SIGKILL');
      await once(server.child, 'exit');
      const reset = spawn(process.execPath, [join(root, 'dist/cli.js'), 'reset', '--yes', '--data', data]);
      const [code] = await once(reset, 'exit');
      expect(code).toBe(0);
      expect(await leftovers(runtime, join(data, 'node', 'root'))).toEqual(nothing);
      expect(existsSync(join(data, 'node'))).toBe(false);
    },
    storyLimitMs,
  );
});
