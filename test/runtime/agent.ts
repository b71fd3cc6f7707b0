/** A node agent in this process, on a test's own runtime: with a folder, ports and cgroups of its own, and quiet unless something goes wrong. */

import {execFile} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {type Agent, startAgent} from '../../agent/agent.ts';
import {parseArguments} from '../../agent/cli/flags.ts';
import {Settings} from '../../agent/cli/settings.ts';
import {problemsOf} from '../../agent/cli/validate.ts';
import {systemClock} from '../../shared/clock.ts';
import type {TestRuntime} from './containerd.ts';
import {mountsBelow} from './leftovers.ts';

export interface TestAgent {
  name: string;
  rootDir: string;
  /** Of the secure port of 127.0.0.1. */
  port: number;
  /** What the agent logged as a warning or an error. */
  complaints: string[];
  /** Ends the agent, pods stay; then another one, as after a restart of the process. */
  restart(): Promise<void>;
  /** Ends it for good and takes its folder away. */
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as {port: number};
  server.close();
  return port;
}

/** Flags of an agent on this runtime; the ports are free ones. */
export async function agentFlags(runtime: TestRuntime, name: string, rootDir: string, kubeconfig?: string): Promise<string[]> {
  return [
    ...(kubeconfig ? [`--clusterconfig=${kubeconfig}`] : []),
    '--container-runtime=remote',
    `--container-runtime-endpoint=${runtime.endpoint}`,
    `--root-dir=${rootDir}`,
    `--cert-dir=${join(rootDir, 'pki')}`,
    `--cgroup-root=${runtime.cgroupRoot}`,
    `--hostname-override=${name}`,
    '--address=127.0.0.1',
    '--node-ip=127.0.0.1',
    `--port=${await freePort()}`,
    '--healthz-port=0',
    '--read-only-port=0',
  ];
}

export async function startTestAgent(
  runtime: TestRuntime,
  options: {name: string; kubeconfig?: string; flags?: readonly string[]},
): Promise<TestAgent> {
  const rootDir = await mkdtemp(join(tmpdir(), 'clusterless-node-'));
  const flags = [...(await agentFlags(runtime, options.name, rootDir, options.kubeconfig)), ...(options.flags ?? [])];
  const {values, errors} = parseArguments(flags);
  const settings = new Settings(values);
  const problems = [...errors, ...problemsOf(settings)];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const complaints: string[] = [];
  const note = (text: string, error?: unknown) => void complaints.push(error instanceof Error ? `${text}: ${error.message}` : text);
  const log = {error: note, warn: note, info: () => {}, debug: () => {}};
  const start = (): Promise<Agent> => startAgent({settings, log, clock: systemClock, version: '0.0.0'});
  let agent = await start();
  return {
    name: options.name,
    rootDir,
    port: settings.number('port'),
    complaints,
    async restart() {
      await agent.stop();
      agent = await start();
    },
    async stop() {
      await agent.stop();
      await removeRoot(rootDir);
    },
  };
}

/** An agent leaves its memory volume mounted: its pods may still use it. */
export async function removeRoot(rootDir: string): Promise<void> {
  for (const point of await mountsBelow(rootDir)) await promisify(execFile)('umount', ['-l', point]);
  await rm(rootDir, {recursive: true, force: true});
}
