/** DATA/node: what belongs to the node of a data folder. Everything about it can be removed again by what stands there. */
import {readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {writePrivately} from '../kubeconfig.ts';
import {runAgentCommand} from './agent-program.ts';
import {removeNetwork} from './network.ts';

export interface NodeFile {
  name: string;
  endpoint: string;
  /** Of the agent that runs, or ran last. */
  pid?: number;
  /** This node's pods have the network that was written for it. */
  ownNetwork: boolean;
}

export class NodeFiles {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly config: string;
  readonly clientCa: string;
  readonly certificates: string;
  readonly root: string;
  readonly #file: string;

  constructor(data: string) {
    this.folder = join(data, 'node');
    this.kubeconfig = join(this.folder, 'kubeconfig');
    this.config = join(this.folder, 'config.json');
    this.clientCa = join(this.folder, 'client-ca.crt');
    this.certificates = join(this.folder, 'pki');
    this.root = join(this.folder, 'root');
    this.#file = join(this.folder, 'node.json');
  }

  async read(): Promise<NodeFile | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as NodeFile);
  }

  write(file: NodeFile): Promise<void> {
    return writePrivately(this.#file, `${JSON.stringify(file)}\n`);
  }

  /** The agent that a killed server may have left, if it lives and is this one's. */
  async endLeftover(): Promise<void> {
    const pid = (await this.read())?.pid;
    if (pid === undefined || !(await this.#isAgent(pid))) return;
    process.kill(pid, 'SIGTERM');
    for (let turn = 0; turn < 100 && (await this.#isAgent(pid)); turn++) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** Its pods, mounts, cgroups and files. @throws Refusal with what could not be removed */
  async cleanUp(say: (line: string) => void): Promise<void> {
    const file = await this.read();
    if (!file) return;
    await this.endLeftover();
    const flags = [`--container-runtime-endpoint=${file.endpoint}`, `--root-dir=${this.root}`, `--cgroup-root=${cgroupRoot}`];
    for (const line of (await runAgentCommand(['cleanup', ...flags])).split('\n').filter(Boolean)) say(line);
    if (file.ownNetwork) await removeNetwork();
    await rm(this.folder, {recursive: true, force: true});
  }

  /** Process ids come again: only one whose command line names our folder is ours. */
  async #isAgent(pid: number): Promise<boolean> {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return line.split('\0').includes(`--root-dir=${this.root}`);
  }
}

/** Beside the kubepods of a real node, should this machine be one as well. */
export const cgroupRoot = '/clusterless';
