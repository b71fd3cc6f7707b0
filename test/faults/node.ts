/**
 * A node to do harm to: a server, a containerd and the built agent, each a process of its own that can be killed and started again, with what
 * a run wants to know of its pods and of what they left.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {openSync} from 'node:fs';
import {copyFile, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {agentFlags, removeRoot} from '../runtime/agent.ts';
import {type ClusterApi, clusterApi} from '../runtime/api.ts';
import {startRuntime, type TestRuntime} from '../runtime/containerd.ts';
import {images} from '../runtime/images.ts';
import {type Leftovers, leftovers, nothing} from '../runtime/leftovers.ts';
import {type Server, startServer} from '../stories/server.ts';
import {type CuttableWay, cuttableWay} from './cuttable.ts';

// biome-ignore lint/suspicious/noExplicitAny: the API's objects
export type Json = any;

export interface NodeOptions {
  /** More for the agent. */
  flags?: readonly string[];
  /** More for its Node. */
  nodeFlags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  rootDir?: string;
  runtimeRoot?: string;
  /** The agent's way to the server can be cut. */
  cuttable?: boolean;
}

export const nodeName = 'faulty';
export const podsPath = '/api/v1/namespaces/default/pods';
const root = fileURLToPath(new URL('../..', import.meta.url));
export const token = 'faults-admin';

export class FaultyNode {
  readonly api: ClusterApi;
  readonly server: Server;
  readonly runtime: TestRuntime;
  readonly way: CuttableWay | undefined;
  readonly rootDir: string;
  readonly port: number;
  readonly log: string;
  readonly #folder: string;
  readonly #command: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  #agent: ChildProcess | undefined;
  agentStarts = 0;
  readonly #afterwards: (() => Promise<unknown>)[] = [];

  static async open(options: NodeOptions = {}): Promise<FaultyNode> {
    const folder = await mkdtemp(join(tmpdir(), 'clusterless-faults-'));
    const tokens = join(folder, 'tokens.csv');
    await writeFile(tokens, `${token},admin,1,"system:masters"\n`);
    const server = await startServer('--token-auth-file', tokens);
    let node: FaultyNode | undefined;
    try {
      const runtime = await startRuntime(options.runtimeRoot ? {root: options.runtimeRoot} : {});
      const rootDir = options.rootDir ?? join(folder, 'node');
      const way = options.cuttable ? await cuttableWay(server.address) : undefined;
      let {kubeconfig} = server;
      if (way) {
        const text = await readFile(kubeconfig, 'utf8');
        kubeconfig = join(folder, 'kubeconfig');
        await writeFile(kubeconfig, text.replace(server.address, `127.0.0.1:${way.port}`));
      }
      const command = [
        ...(options.nodeFlags ?? []),
        join(root, 'dist/nodeagent.js'),
        ...(await agentFlags(runtime, nodeName, rootDir, kubeconfig)),
        ...['--cluster-api-qps=200', '--cluster-api-burst=400', '--event-qps=200', '--max-pods=500', '--v=2'],
        ...(options.flags ?? []),
      ];
      node = new FaultyNode(folder, server, runtime, rootDir, command, options.environment ?? {}, way);
      await node.startAgent();
      await node.ready();
      await node.api.until('/api/v1/namespaces/default/serviceaccounts/default', 'the service account', Boolean);
      return node;
    } catch (error) {
      await (node?.close(true) ?? server.close());
      await rm(folder, {recursive: true, force: true});
      throw error;
    }
  }

  private constructor(
    folder: string,
    server: Server,
    runtime: TestRuntime,
    rootDir: string,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    way: CuttableWay | undefined,
  ) {
    this.way = way;
    this.#folder = folder;
    this.#command = command;
    this.#environment = environment;
    this.server = server;
    this.runtime = runtime;
    this.rootDir = rootDir;
    this.log = join(folder, 'agent.log');
    this.port = Number(/--port=(\d+)/.exec(command.join(' '))![1]);
    this.api = clusterApi(`https://${server.address}`, token);
  }

  get isAgentRunning(): boolean {
    return this.#agent !== undefined && this.#agent.exitCode === null && this.#agent.signalCode === null;
  }

  get agentPid(): number {
    return this.#agent!.pid!;
  }

  async startAgent(): Promise<void> {
    const output = openSync(this.log, 'a');
    this.#agent = spawn(process.execPath, this.#command, {stdio: ['ignore', output, output], env: {...process.env, ...this.#environment}});
    this.agentStarts += 1;
  }

  async killAgent(): Promise<void> {
    if (!this.isAgentRunning) return;
    this.#agent!.kill('SIGKILL');
    await once(this.#agent!, 'exit');
  }

  ready(withinMs?: number): Promise<Json> {
    const since = Date.now();
    // Of this agent, not of the one before.
    return this.api
      .until(
        `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`,
        'the agent renews',
        (lease) => Date.parse(lease?.spec.renewTime) >= since - 10_000,
        withinMs,
      )
      .then(() => this.api.until(`/api/v1/nodes/${nodeName}`, 'the node is Ready', isReady, withinMs));
  }

  create(pod: object): Promise<Json> {
    return this.api.ask('POST', podsPath, pod);
  }

  pods(): Promise<Json[]> {
    return this.api.ask('GET', podsPath).then(({items}) => items);
  }

  untilReady(name: string, withinMs?: number): Promise<Json> {
    return this.api.until(`${podsPath}/${name}`, `${name} is Ready`, isReady, withinMs);
  }

  remove(name: string, graceSeconds = 1): Promise<unknown> {
    return this.api.ask('DELETE', `${podsPath}/${name}?gracePeriodSeconds=${graceSeconds}`);
  }

  /** Deletes all pods; how long that took, and what is left of them. */
  async empty(isEmpty = isNothing, withinMs = 180_000): Promise<{ms: number; left: Leftovers}> {
    const began = Date.now();
    const names = (await this.pods()).map(({metadata}) => metadata.name);
    await Promise.all(names.map((name) => this.remove(name).catch(() => {})));
    await this.api.until(podsPath, 'all pods are gone', (list) => list.items.length === 0, withinMs);
    const ms = Date.now() - began;
    let left = await leftovers(this.runtime, this.rootDir);
    for (const end = Date.now() + 60_000; !isEmpty(left) && Date.now() < end; left = await leftovers(this.runtime, this.rootDir))
      await pause(200);
    return {ms, left};
  }

  /** What is to be done when everything here has ended. */
  afterwards(task: () => Promise<unknown>): void {
    this.#afterwards.push(task);
  }

  /** Whoever looks at a failed run wants the logs. */
  async close(keepLogs: boolean): Promise<string | undefined> {
    await this.killAgent();
    const kept = join(tmpdir(), `clusterless-faults-${process.pid}-logs`);
    if (keepLogs) {
      await mkdir(kept, {recursive: true});
      for (const file of [this.log, join(this.runtime.folder, 'containerd.log')])
        await copyFile(file, join(kept, basename(file))).catch(() => {});
    }
    this.way?.close();
    const pods = await this.pods().catch(() => []);
    await this.runtime.stop();
    await this.server.close();
    for (const {metadata} of pods) await rm(`/var/log/pods/default_${metadata.name}_${metadata.uid}`, {recursive: true, force: true});
    this.api.close();
    await removeRoot(this.rootDir);
    await rm(this.#folder, {recursive: true, force: true});
    for (const task of this.#afterwards) await task();
    return keepLogs ? kept : undefined;
  }
}

export const isReady = (object: Json): boolean =>
  Boolean(object?.status?.conditions?.some((each: Json) => each.type === 'Ready' && each.status === 'True'));

export const isNothing = (left: Leftovers): boolean => JSON.stringify(left) === JSON.stringify(nothing);

/** What a runtime forgets that is killed while it makes a sandbox: it names no pod, so that nobody who speaks CRI can find it or dare take it away. */
const forgotten = ['shims', 'runtimeMounts', 'networkNamespaces', 'addresses', 'links'] as const;

/** Of what is the agent's to take away nothing is left. */
export const isNothingOfAgent = (left: Leftovers): boolean =>
  isNothing({...left, ...Object.fromEntries(forgotten.map((name) => [name, 0]))});

export const forgottenIn = (left: Leftovers): string => forgotten.map((name) => `${name} ${left[name]}`).join(', ');

/** One that stays until it is told to go. */
export function pod(name: string, spec: object = {}, container: object = {}): object {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name, labels: {app: name}},
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: images.busybox,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', 'trap "exit 0" TERM; echo begun; sleep 100000 & wait'],
          ...container,
        },
      ],
      ...spec,
    },
  };
}

/** Who a pod's containers are, and how often they were started. */
export const identityOf = ({status}: Json): string =>
  (status?.containerStatuses ?? []).map(({containerID, restartCount}: Json) => `${containerID}#${restartCount}`).join();
