/** What the agent relies on in a container runtime, as tests that any runtime can be put through. */
import {mkdir} from 'node:fs/promises';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type ContainerConfig, containerState, type Runtime, type RuntimeEvent, type SandboxConfig, sandboxReady} from './runtime.ts';

export interface RuntimeUnderTest {
  name: string;
  open(): Promise<Runtime>;
  /** Holds a shell; already there, or to be pulled. */
  image: string;
  /** A folder; asked after `open`. */
  logs(): string;
}

/** A runtime may have to be started first. */
const setUpWithinMs = 120_000;
const own = {'io.nodeagent.test': 'contract'};

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 30_000; !(await condition()); ) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function runtimeContract({name, open, image, logs}: RuntimeUnderTest): void {
  describe(`${name} as a container runtime`, () => {
    let runtime: Runtime;
    let uid = 0;
    const run = `${Date.now().toString(36)}`;
    const made: string[] = [];

    const sandbox = (attempt = 0): SandboxConfig => ({
      metadata: {name: 'contract', namespace: 'contract', uid: `${run}-${uid}`, attempt},
      logDirectory: `${logs()}/${run}-${uid}`,
      labels: {...own, run},
      annotations: {note: 'kept'},
      linux: {},
    });
    const shell = (script: string, attempt = 0): ContainerConfig => ({
      metadata: {name: 'c', attempt},
      image: {image},
      command: ['sh', '-c', script],
      labels: {...own, run},
      annotations: {note: 'kept'},
      logPath: `c-${attempt}.log`,
      linux: {},
    });
    const begin = async (): Promise<[string, SandboxConfig]> => {
      uid += 1;
      const config = sandbox();
      await mkdir(config.logDirectory, {recursive: true});
      const id = await runtime.runSandbox(config);
      made.push(id);
      return [id, config];
    };
    const stateOf = async (id: string) => (await runtime.containerStatus(id))?.state;

    beforeAll(async () => {
      runtime = await open();
      if (!(await runtime.image(image))) await runtime.pullImage(image);
    }, setUpWithinMs);
    afterAll(async () => {
      for (const id of made) {
        await runtime.stopSandbox(id);
        await runtime.removeSandbox(id);
      }
      runtime.close();
    }, setUpWithinMs);

    test('a sandbox has an address, is listed by its labels, and keeps what was noted on it', async () => {
      const [id] = await begin();
      const status = await runtime.sandboxStatus(id);
      expect(status?.ips[0]).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      const listed = await runtime.sandboxes({run});
      expect(listed.find((entry) => entry.id === id)).toMatchObject({state: sandboxReady, annotations: {note: 'kept'}});
      expect(await runtime.sandboxes({run: 'another'})).toEqual([]);
    });

    test('the same attempt of a pod cannot be made twice', async () => {
      const [, config] = await begin();
      await expect(runtime.runSandbox(config)).rejects.toThrow();
    });

    test('a container is created, runs, runs a command, and ends when it is stopped; the end is told', async () => {
      const events: RuntimeEvent[] = [];
      const stop = runtime.watch(
        (event) => events.push(event),
        () => {},
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      const [id, config] = await begin();
      const container = await runtime.createContainer(id, shell('trap "exit 0" TERM; sleep 1000 & wait'), config);
      expect(await stateOf(container)).toBe(containerState.created);
      await runtime.startContainer(container);
      const status = await runtime.containerStatus(container);
      expect(status).toMatchObject({state: containerState.running, annotations: {note: 'kept'}});
      expect(status!.startedAt).toBeGreaterThan(0);
      expect((await runtime.exec(container, ['true'], 5)).exitCode).toBe(0);
      await runtime.stopContainer(container, 10);
      expect(await stateOf(container)).toBe(containerState.exited);
      await until(() => events.some((event) => event.type === 'exited' && event.id === container), 'the event of its end');
      stop();
    });

    test('no grace is a KILL', async () => {
      const [id, config] = await begin();
      const container = await runtime.createContainer(id, shell('trap "" TERM; sleep 1000 & wait'), config);
      await runtime.startContainer(container);
      await runtime.stopContainer(container, 0);
      expect((await runtime.containerStatus(container))?.exitCode).toBe(137);
    });

    test('stopping or removing what is not there is no error, asking for it says so', async () => {
      const nothing = 'f'.repeat(64);
      await runtime.stopContainer(nothing, 1);
      await runtime.removeContainer(nothing);
      expect(await runtime.containerStatus(nothing)).toBeUndefined();
      expect(await runtime.sandboxStatus(nothing)).toBeUndefined();
    });

    test('a stopped sandbox is not ready, and takes its containers along when it is removed', async () => {
      const [id, config] = await begin();
      const container = await runtime.createContainer(id, shell('sleep 1000'), config);
      await runtime.startContainer(container);
      await runtime.stopSandbox(id);
      await runtime.stopSandbox(id);
      expect((await runtime.sandboxStatus(id))?.state).not.toBe(sandboxReady);
      expect(await stateOf(container)).toBe(containerState.exited);
      await runtime.removeSandbox(id);
      await runtime.removeSandbox(id);
      expect(await runtime.containerStatus(container)).toBeUndefined();
    });

    test('an image is found by the name that it was pulled by, an absent one cannot be pulled', async () => {
      const found = await runtime.image(image);
      expect(found?.repoTags).toContain(image);
      expect((await runtime.images()).map(({id}) => id)).toContain(found?.id);
      const absent = image.replace(/:[^:/]+$/, ':no-such-tag');
      expect(await runtime.image(absent)).toBeUndefined();
      await expect(runtime.pullImage(absent)).rejects.toThrow(/not found|failed to resolve/);
    });
  });
}
