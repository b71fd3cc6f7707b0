import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {AgentProcess} from './agent-program.ts';
import {confFile, removeNetwork, writeNetwork} from './network.ts';
import {findRuntime} from './runtime.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-'));
});
afterEach(() => rm(folder, {recursive: true, force: true}));

describe('a container runtime', () => {
  test('is found by the first of the usual sockets', async () => {
    const socket = join(folder, 'second.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await writeFile(join(folder, 'first.sock'), 'a file is no socket');
    expect(await findRuntime(undefined, [join(folder, 'first.sock'), socket])).toBe(`unix://${socket}`);
    expect(await findRuntime(`unix://${socket}`, [])).toBe(`unix://${socket}`);
    expect(await findRuntime(socket, [])).toBe(`unix://${socket}`);
    server.close();
  });

  test('that is not there is said with what to install, one that was named with its name', async () => {
    await expect(findRuntime(undefined, ['/nowhere.sock'])).rejects.toThrow(
      /no container runtime found \(looked for \/nowhere.sock\); install one/,
    );
    await expect(findRuntime('/nowhere.sock', [])).rejects.toThrow('--node: no container runtime listens on /nowhere.sock');
  });
});

describe('a network for pods', () => {
  const places = () => ({conf: join(folder, 'net.d'), plugins: [join(folder, 'bin')]});
  const plugins = async (...names: string[]) => {
    await mkdir(join(folder, 'bin'));
    for (const name of names) await writeFile(join(folder, 'bin', name), '');
  };

  test('is a file for the runtime, and goes again', async () => {
    await plugins('bridge', 'host-local', 'loopback', 'portmap');
    const file = await writeNetwork(places());
    expect(file).toBe(join(folder, 'net.d', confFile));
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({name: 'clusterless', plugins: [{type: 'bridge'}, {type: 'portmap'}]});
    // Again, as after a crash.
    await writeNetwork(places());
    expect(await removeNetwork(places())).toBe(true);
    expect(existsSync(file)).toBe(false);
    expect(await removeNetwork(places())).toBe(false);
  });

  test('needs plugins, and names those that are missing', async () => {
    await plugins('loopback');
    await expect(writeNetwork(places())).rejects.toThrow('no CNI plugin bridge, host-local, portmap in');
    expect(existsSync(places().conf)).toBe(false);
  });

  test('is not written beside another, and what somebody changed is not removed', async () => {
    await plugins('bridge', 'host-local', 'loopback', 'portmap');
    const {conf} = places();
    await mkdir(conf);
    await writeFile(join(conf, '05-mine.conf'), '{}');
    await expect(writeNetwork(places())).rejects.toThrow('has a network already (05-mine.conf)');
    await writeFile(join(conf, confFile), '{}');
    expect(await removeNetwork(places())).toBe(false);
    expect(existsSync(join(conf, confFile))).toBe(true);
  });
});

test('an agent whose process id cannot be noted is started all the same', async () => {
  const said: string[] = [];
  const agent = new AgentProcess({
    flags: [],
    line: (text) => said.push(text),
    started: async () => {
      throw new Error('no space left');
    },
  });
  await agent.start();
  await agent.stop();
  expect(said).toContain('its process id was not noted: no space left');
});
