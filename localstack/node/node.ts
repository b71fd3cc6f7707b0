/**
 * `clusterless up --node`: this machine as a node of the cluster in this terminal. The agent is a process of its own, a client as on any
 * other machine; it ends with the terminal's cluster and, unless they are to be kept, its pods end with it.
 */
import {mkdir} from 'node:fs/promises';
import {createServer} from 'node:net';
import {hostname} from 'node:os';
import type {Log} from '../../shared/api.ts';
import type {Client} from '../../shared/client/client.ts';
import {isReason} from '../../shared/errors.ts';
import type {KubeObject} from '../../shared/object.ts';
import {Refusal} from '../cli/fail.ts';
import type {Cluster} from '../cluster.ts';
import {writePrivately} from '../kubeconfig.ts';
import {AgentProcess, runAgentCommand} from './agent-program.ts';
import {confFile, writeNetwork} from './network.ts';
import {cgroupRoot, NodeFiles} from './node-files.ts';
import {findRuntime} from './runtime.ts';

export interface NodeOptions {
  data: string;
  /** Default: the machine's. */
  name?: string;
  /** The runtime's socket; the usual ones are looked for without. */
  endpoint?: string;
  /** Write a network for pods where there is none. */
  cni: boolean;
  keepPods: boolean;
  inMemory: boolean;
  /** More flags for the agent. */
  flags: readonly string[];
  loggingFormat: string;
  verbosity: number;
  log: Log;
}

/** What `nodeagent check` prints. */
interface Checked {
  runtime: string;
  notReady: string;
  noNetwork: string;
  foreignPods: number;
}

const lookEveryMs = 100;
const patienceMs = 15_000;
const nodes = {groupVersion: 'v1', resource: 'nodes'};

export class LocalNode {
  readonly #options: NodeOptions;
  readonly #files: NodeFiles;
  readonly #name: string;
  readonly #endpoint: string;
  readonly #runtime: string;
  readonly #ownNetwork: boolean;
  #agent: AgentProcess | undefined;
  #client: Client | undefined;

  /** Before the cluster is started: what is missing is said at once. @throws Refusal */
  static async prepare(options: NodeOptions): Promise<LocalNode> {
    if (process.platform !== 'linux') throw new Refusal('--node: containers need Linux');
    if (process.getuid?.() !== 0) throw new Refusal('--node: containers need root; run it with sudo, or leave --node out');
    const endpoint = await findRuntime(options.endpoint ?? process.env.CONTAINER_RUNTIME_ENDPOINT);
    const files = new NodeFiles(options.data);
    await files.endLeftover();
    const ask = async (): Promise<Checked> =>
      JSON.parse(await runAgentCommand(['check', `--container-runtime-endpoint=${endpoint}`, `--root-dir=${files.root}`]));
    let checked = await ask();
    if (checked.notReady) throw new Refusal(`--node: ${checked.runtime} at ${endpoint} is not ready: ${checked.notReady}`);
    if (checked.foreignPods > 0)
      throw new Refusal(
        `--node: ${checked.runtime} at ${endpoint} runs ${checked.foreignPods} pods of another nodeagent, and each would end the other's; ` +
          'end that one, or remove what it left with `nodeagent cleanup --all`',
      );
    let ownNetwork = (await files.read())?.ownNetwork ?? false;
    if (checked.noNetwork) {
      if (!options.cni)
        throw new Refusal(
          `--node: ${checked.runtime} has no network for pods (${checked.noNetwork}); --node-cni writes one to /etc/cni/net.d/${confFile}, ` +
            'a bridge of this machine alone, or configure another',
        );
      ownNetwork = true;
      // Before it is there: whatever comes between, `clusterless reset` removes it.
      await files.write({name: nameOf(options), endpoint, ownNetwork});
      options.log.info({file: await writeNetwork()}, 'a network for pods is written');
      for (let waitedMs = 0; checked.noNetwork && waitedMs < patienceMs; waitedMs += lookEveryMs) {
        await pause();
        checked = await ask();
      }
      if (checked.noNetwork) throw new Refusal(`--node: ${checked.runtime} does not take up the network: ${checked.noNetwork}`);
    }
    return new LocalNode(options, files, endpoint, checked.runtime, ownNetwork);
  }

  private constructor(options: NodeOptions, files: NodeFiles, endpoint: string, runtime: string, ownNetwork: boolean) {
    this.#options = options;
    this.#files = files;
    this.#name = nameOf(options);
    this.#endpoint = endpoint;
    this.#runtime = runtime;
    this.#ownNetwork = ownNetwork;
  }

  /** Resolves when the agent runs; `ready` is called with a line when the node takes pods. */
  async start(cluster: Cluster, ready: (line: string) => void): Promise<void> {
    const startedAt = performance.now();
    const {log, flags} = this.#options;
    const files = this.#files;
    const name = this.#name;
    this.#client = cluster.api.client;
    await mkdir(files.root, {recursive: true, mode: 0o700});
    await allowNode(cluster.api.client, name);
    await writePrivately(files.kubeconfig, await cluster.kubeconfigFor({name: `system:node:${name}`, groups: ['system:nodes']}));
    await writePrivately(files.clientCa, cluster.clientCaCertificate);
    await writePrivately(files.config, `${JSON.stringify(await this.#configuration(), undefined, 2)}\n`);
    const file = {name, endpoint: this.#endpoint, ownNetwork: this.#ownNetwork};
    await files.write(file);
    this.#agent = new AgentProcess({
      flags: [
        `--clusterconfig=${files.kubeconfig}`,
        `--config=${files.config}`,
        '--container-runtime=remote',
        `--hostname-override=${name}`,
        `--root-dir=${files.root}`,
        `--cert-dir=${files.certificates}`,
        `--v=${this.#options.verbosity}`,
        ...flags,
      ],
      line: (text) => void process.stderr.write(this.#options.loggingFormat === 'json' ? `${text}\n` : `node | ${text}\n`),
      started: (pid) => files.write({...file, pid}),
    });
    await this.#agent.start();
    this.#whenReady(cluster.api.client, startedAt, ready).catch((error: unknown) => log.warn({error: String(error)}, 'node'));
  }

  /** Ends the agent and, unless they are kept, its pods; the API says so of the node. */
  async stop(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
    const {keepPods, log, inMemory} = this.#options;
    if (this.#client && !inMemory)
      await sayStopped(this.#client, this.#name).catch((error: unknown) => log.warn({error: String(error)}, 'node'));
    if (keepPods) return;
    try {
      await this.#files.cleanUp((line) => log.debug({}, line));
    } catch (error) {
      log.error({error: (error as Error).message}, 'what is left of the node: `clusterless reset` tries again');
    }
  }

  /** The kubelet's own fields: what would only be a deprecated flag. The API server comes through the tunnel: no port has to be open. */
  async #configuration(): Promise<object> {
    return {
      kind: 'NodeAgentConfiguration',
      apiVersion: 'nodeagent.config.k8s.io/v1beta1',
      address: '127.0.0.1',
      port: await freePort(),
      podAPIPort: 0,
      readOnlyPort: 0,
      healthzPort: 0,
      authentication: {x509: {clientCAFile: this.#files.clientCa}},
      containerRuntimeEndpoint: this.#endpoint,
      cgroupRoot,
      failSwapOn: false,
      kubeAPIQPS: 50,
      kubeAPIBurst: 100,
      logging: {format: this.#options.loggingFormat},
    };
  }

  async #whenReady(client: Client, startedAt: number, ready: (line: string) => void): Promise<void> {
    for (let waitedMs = 0; this.#agent; waitedMs += lookEveryMs) {
      const node = await client.get(nodes, this.#name).catch(() => undefined);
      const condition = readiness(node);
      // What an earlier agent said of itself is no news.
      const isNews = Date.parse(condition?.lastHeartbeatTime ?? '') >= Math.floor((performance.timeOrigin + startedAt) / 1_000) * 1_000;
      if (condition?.status === 'True' && isNews)
        return ready(`node ${this.#name} ready, ${this.#runtime}, in ${Math.round(performance.now() - startedAt)} ms`);
      if (waitedMs === patienceMs)
        this.#options.log.warn({node: this.#name, because: condition?.message ?? 'it has not said how it is'}, 'the node is not ready yet');
      await pause();
    }
  }
}

const nameOf = ({name = hostname()}: NodeOptions): string => name.toLowerCase();

interface Readiness {
  status: string;
  message?: string;
  lastHeartbeatTime?: string;
}

export const readiness = (node: KubeObject | undefined): Readiness | undefined =>
  node?.['status']?.conditions?.find(({type}: {type: string}) => type === 'Ready');

/**
 * There is no Node authorizer: the role that the reference has for it is bound to this one node's user. It reads all Secrets and ConfigMaps,
 * as any node of a cluster without that authorizer.
 */
async function allowNode(client: Client, name: string): Promise<void> {
  const user = `system:node:${name}`;
  const binding = {
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: {name: `clusterless:node:${name}`},
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node'},
    subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user}],
  };
  try {
    await client.create({groupVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterrolebindings'}, binding);
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}

/** As the node lifecycle controller says of a node that it hears nothing of. */
async function sayStopped(client: Client, name: string): Promise<void> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const unknown = {type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'its agent was ended', lastTransitionTime: now};
  try {
    await client.patch(nodes, name, 'application/strategic-merge-patch+json', {status: {conditions: [unknown]}}, 'status');
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}

/** Free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as {port: number};
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lookEveryMs));
