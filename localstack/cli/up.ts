/** `clusterless up`: a cluster in the foreground, from flags to the last signal. */
import {join, resolve} from 'node:path';
import type {Log} from '../../shared/api.ts';
import type {Cluster, ClusterOptions} from '../cluster.ts';
import type {LocalNode} from '../node/node.ts';
import {version} from '../version.ts';
import {explain, Refusal} from './fail.ts';
import {collectWhenIdle} from './idle-memory.ts';
import {type LoggingFormat, openLog} from './logging.ts';
import {isListening, readServerFile, removeServerFile, writeServerFile} from './server-file.ts';

/** As commander hands them over: already parsed by values.ts. */
export interface UpFlags {
  listen: string;
  data: string;
  inMemory?: boolean;
  store: 'embedded' | 'dynamo';
  dynamoEndpoint?: string;
  tablePrefix?: string;
  region?: string;
  kubeconfig?: string;
  tokenAuthFile?: string;
  serviceClusterIpRange: string;
  serviceNodePortRange: string;
  serviceAccountIssuer?: string;
  livezGracePeriod: number;
  shutdownDelayDuration: number;
  watchHistory: number;
  continueTokenTtl: number;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  tlsSan: string[];
  binder: 'auto' | 'off';
  /** True: named as the machine is. */
  node?: string | true;
  nodeRuntime?: string;
  nodeCni?: boolean;
  nodeFlag: string[];
  keepPods?: boolean;
  v: number;
  loggingFormat: LoggingFormat;
}

/** Requests under way get as long as the API itself would give them. */
const graceMs = 60_000;

/** The verbosity at which requests are logged, as near to the reference's as ours goes. */
const requestsFrom = 3;

export async function up(flags: UpFlags, start: (options: ClusterOptions) => Promise<Cluster>): Promise<void> {
  const data = resolve(flags.data);
  const log = await openLog(flags.loggingFormat, flags.v);
  const kubeconfig = resolve(flags.kubeconfig ?? join(data, 'kubeconfig'));
  // Ended by signals from the first moment on: a start that hangs must be as easy to end as a server that runs.
  const signals = new Signals();

  // Whoever serves this folder may have a node as well.
  if (flags.inMemory || flags.node) await refuseHeld(data);
  const node = await prepareNode(flags, data, log);
  const cluster = await start(await optionsOf(flags, data, kubeconfig, log)).catch(async (error: unknown) => {
    const line = explain(error, data);
    if (line === undefined) throw error;
    const holder = await readServerFile(data);
    throw new Refusal(holder && /another process/.test(line) ? `${line}; process ${holder.pid} serves it at ${holder.url}` : line);
  });
  const startedAt = new Date().toISOString();
  await writeServerFile(data, {pid: process.pid, url: cluster.url, version, inMemory: flags.inMemory ?? false, kubeconfig, startedAt});
  // performance.now() counts from the start of the process, so this is what the user waited for.
  process.stdout.write(`ready ${cluster.url} kubeconfig=${kubeconfig} in ${Math.round(performance.now())} ms\n`);
  collectWhenIdle();
  process.on('unhandledRejection', (error) => log.error({err: error}, 'a task failed that nobody waited for'));
  await node?.start(cluster, (line) => void process.stdout.write(`${line}\n`));

  const signal = await signals.first;
  log.info({signal, delayMs: flags.shutdownDelayDuration}, 'shutting down');
  await node?.stop();
  cluster.drain();
  if (flags.shutdownDelayDuration > 0) await new Promise((resolve) => setTimeout(resolve, flags.shutdownDelayDuration));
  await cluster.close({graceMs});
  await removeServerFile(data);
  process.exit(0);
}

/** @throws Refusal that says what the machine lacks */
async function prepareNode(flags: UpFlags, data: string, log: Log): Promise<LocalNode | undefined> {
  const {node, nodeRuntime, nodeCni, nodeFlag, keepPods} = flags;
  if (!node) {
    if (nodeRuntime !== undefined || nodeCni || nodeFlag.length > 0 || keepPods)
      throw new Refusal('--node-runtime, --node-cni, --node-flag and --keep-pods need --node');
    return undefined;
  }
  return (await import('../node/node.ts')).LocalNode.prepare({
    data,
    ...(typeof node === 'string' && {name: node}),
    ...(nodeRuntime !== undefined && {endpoint: nodeRuntime}),
    cni: nodeCni ?? false,
    keepPods: keepPods ?? false,
    inMemory: flags.inMemory ?? false,
    flags: nodeFlag,
    loggingFormat: flags.loggingFormat,
    verbosity: flags.v,
    log,
  });
}

/** A cluster in memory opens no store that would be held; it must not write its kubeconfig over that of one that runs. */
async function refuseHeld(data: string): Promise<void> {
  const holder = await readServerFile(data);
  if (holder && holder.pid !== process.pid && (await isListening(holder))) {
    throw new Refusal(
      `data folder ${data}: process ${holder.pid} serves it at ${holder.url}; stop that one or name another folder with --data`,
    );
  }
}

/** The first signal asks, the second insists. */
class Signals {
  readonly first: Promise<string>;

  constructor() {
    this.first = new Promise((resolve) => {
      let asked = false;
      for (const name of ['SIGTERM', 'SIGINT'] as const) {
        process.on(name, () => {
          if (asked) process.exit(1);
          asked = true;
          resolve(name);
        });
      }
    });
  }
}

async function optionsOf(flags: UpFlags, data: string, kubeconfig: string, log: Log): Promise<ClusterOptions> {
  if ((flags.tlsCertFile === undefined) !== (flags.tlsPrivateKeyFile === undefined)) {
    throw new Refusal('--tls-cert-file and --tls-private-key-file belong together: name both or neither');
  }
  return {
    data,
    ...dynamoOf(flags),
    kubeconfig,
    log,
    logRequests: flags.v >= requestsFrom,
    adminToken: false,
    inMemory: flags.inMemory ?? false,
    listen: flags.listen,
    tlsSans: flags.tlsSan,
    serviceClusterIpRange: flags.serviceClusterIpRange,
    serviceNodePortRange: flags.serviceNodePortRange,
    watchHistoryMs: flags.watchHistory,
    continueTokenTtlMs: flags.continueTokenTtl,
    livezGracePeriodMs: flags.livezGracePeriod,
    binder: flags.binder === 'auto',
    ...(flags.serviceAccountIssuer !== undefined && {serviceAccountIssuer: flags.serviceAccountIssuer}),
    ...(flags.tlsCertFile !== undefined && {tls: {certificateFile: flags.tlsCertFile, keyFile: flags.tlsPrivateKeyFile!}}),
    ...(flags.tokenAuthFile !== undefined && {
      staticTokens: await (await import('./token-file.ts')).readTokenFile(flags.tokenAuthFile, log),
    }),
  };
}

/** @throws Refusal for flags that name nothing without their store */
function dynamoOf({store, dynamoEndpoint, tablePrefix, region, inMemory}: UpFlags): Pick<ClusterOptions, 'dynamo'> {
  const given = {
    ...(dynamoEndpoint !== undefined && {endpoint: dynamoEndpoint}),
    ...(tablePrefix !== undefined && {tablePrefix}),
    ...(region !== undefined && {region}),
  };
  if (store === 'dynamo') {
    if (inMemory) throw new Refusal('--in-memory keeps objects in this process and --store dynamo in tables: choose one');
    return {dynamo: given};
  }
  if (Object.keys(given).length > 0) throw new Refusal('--dynamo-endpoint, --table-prefix and --region need --store dynamo');
  return {};
}
