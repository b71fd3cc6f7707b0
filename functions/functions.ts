/**
 * Every function as a row: what the bundler builds, what the template creates, what the rehearsal runs. Which paths each REST function
 * serves is not said here but in shared/http/routes.ts, by these names.
 *
 * Bundles go to dist/functions/<name>/index.mjs, with `handler` as their export and what they load later beside it.
 */

/** Who calls it. A `rest` function gets API Gateway proxy events, a `socket` function those of a WebSocket route. */
export type Trigger = 'rest' | 'socket' | 'log' | 'schedule' | 'deployment';

/** Names of the environment variables; ./kit/environment.ts says what is in them. */
export type Setting =
  | 'CLUSTERLESS_CLUSTER'
  | 'CLUSTERLESS_OBJECTS_TABLE'
  | 'CLUSTERLESS_LOG_TABLE'
  | 'CLUSTERLESS_CONNECTIONS_TABLE'
  | 'CLUSTERLESS_PARAMETERS'
  | 'CLUSTERLESS_ADVERTISE'
  | 'CLUSTERLESS_BASE_PATH'
  | 'CLUSTERLESS_ISSUER'
  | 'CLUSTERLESS_SERVICE_IP_RANGE'
  | 'CLUSTERLESS_NODE_PORT_RANGE'
  | 'CLUSTERLESS_HISTORY_SECONDS'
  | 'CLUSTERLESS_METRICS_NAMESPACE'
  | 'CLUSTERLESS_SOCKET_CALLBACK'
  | 'CLUSTERLESS_WATCH_SOCKET';

/** Names below the path in CLUSTERLESS_PARAMETERS. */
export type Parameter = 'service-account-key' | 'static-tokens' | 'identities' | 'ca' | 'client-ca' | 'client-ca-key';

export interface FunctionRow {
  /** From the root of the project. */
  entry: string;
  trigger: Trigger;
  /** Answers through response streaming: API Gateway must be told to STREAM. */
  streams: boolean;
  memoryMb: number;
  timeoutSeconds: number;
  environment: readonly Setting[];
  /** What it reads at its first invocation, decrypted where encrypted. One that is absent is not set. */
  parameters: readonly Parameter[];
  /** Open watches hold an environment each: a bound of its own keeps them from taking the account's concurrency from writes. */
  bounded?: boolean;
}

const store = [
  'CLUSTERLESS_CLUSTER',
  'CLUSTERLESS_OBJECTS_TABLE',
  'CLUSTERLESS_LOG_TABLE',
  'CLUSTERLESS_HISTORY_SECONDS',
  'CLUSTERLESS_PARAMETERS',
] as const;
const api = [...store, 'CLUSTERLESS_ADVERTISE', 'CLUSTERLESS_BASE_PATH', 'CLUSTERLESS_ISSUER', 'CLUSTERLESS_METRICS_NAMESPACE'] as const;
const ranges = ['CLUSTERLESS_SERVICE_IP_RANGE', 'CLUSTERLESS_NODE_PORT_RANGE'] as const;
/** What it takes to know who asks. */
const callers = ['service-account-key', 'static-tokens', 'identities'] as const;

/** API Gateway gives up after 29 s; a function that went on would work for nobody. */
const restTimeoutSeconds = 29;
/** The longest that Lambda allows; streams end by themselves before it. */
const streamTimeoutSeconds = 900;

const rest = (entry: string): FunctionRow => ({
  entry: `functions/${entry}.ts`,
  trigger: 'rest',
  streams: false,
  memoryMb: 512,
  timeoutSeconds: restTimeoutSeconds,
  environment: api,
  parameters: callers,
});

const streaming = (entry: string): FunctionRow => ({...rest(entry), streams: true, timeoutSeconds: streamTimeoutSeconds});

const socket = (entry: string): FunctionRow => ({
  ...rest(entry),
  trigger: 'socket',
  environment: [...store, 'CLUSTERLESS_CONNECTIONS_TABLE', 'CLUSTERLESS_ISSUER', 'CLUSTERLESS_METRICS_NAMESPACE'],
});

export const functions = {
  create: {...rest('create'), environment: [...api, ...ranges]},
  get: {...rest('get'), environment: [...api, 'CLUSTERLESS_CONNECTIONS_TABLE']},
  /** Lists and HTTP watches. An open watch costs by memory and time, so it has as little as lists of some thousand objects need. */
  list: {...streaming('list'), memoryMb: 256, bounded: true, environment: [...api, 'CLUSTERLESS_CONNECTIONS_TABLE']},
  update: {...rest('update'), environment: [...api, ...ranges]},
  patch: {...rest('patch'), environment: [...api, ...ranges]},
  delete: {...rest('delete'), environment: [...api, ...ranges]},
  'delete-collection': {...streaming('delete-collection'), timeoutSeconds: 300, environment: [...api, ...ranges]},
  /** A log that is followed, a proxied stream: held open like a watch. */
  connect: {
    ...streaming('connect'),
    memoryMb: 256,
    bounded: true,
    environment: [...api, 'CLUSTERLESS_CONNECTIONS_TABLE', 'CLUSTERLESS_SOCKET_CALLBACK'],
  },
  /** Tells where the watch protocol is spoken. */
  discovery: {...rest('discovery'), environment: [...api, 'CLUSTERLESS_WATCH_SOCKET']},
  openapi: {...streaming('openapi'), timeoutSeconds: 60},
  health: rest('health'),
  metrics: rest('metrics'),
  review: rest('review'),
  'socket-connect': socket('socket-connect'),
  'socket-message': {...socket('socket-message'), environment: [...socket('').environment, 'CLUSTERLESS_SOCKET_CALLBACK']},
  'socket-disconnect': {
    ...socket('socket-disconnect'),
    parameters: [],
    environment: [...socket('').environment, 'CLUSTERLESS_SOCKET_CALLBACK'],
  },
  /** Rung by the log's stream: posts changes to those who subscribed. */
  'fan-out': {
    entry: 'functions/fan-out.ts',
    trigger: 'log',
    streams: false,
    memoryMb: 512,
    timeoutSeconds: 300,
    environment: [...store, 'CLUSTERLESS_CONNECTIONS_TABLE', 'CLUSTERLESS_SOCKET_CALLBACK', 'CLUSTERLESS_METRICS_NAMESPACE'],
    parameters: [],
  },
  /** Rung by the log's stream, for changes that controllers have work from: owners that went, namespaces that are to be emptied, pods that wait for a node. */
  controllers: {
    entry: 'functions/controllers.ts',
    trigger: 'log',
    streams: false,
    memoryMb: 512,
    timeoutSeconds: 300,
    environment: [...api, ...ranges, 'CLUSTERLESS_CONNECTIONS_TABLE'],
    parameters: ['service-account-key', 'ca'],
  },
  /** By the clock: retention, what a lost doorbell left behind, repair of addresses. */
  maintenance: {
    entry: 'functions/maintenance.ts',
    trigger: 'schedule',
    streams: false,
    memoryMb: 512,
    timeoutSeconds: 300,
    environment: [...api, ...ranges, 'CLUSTERLESS_CONNECTIONS_TABLE'],
    parameters: ['service-account-key', 'ca'],
  },
  /** A custom resource of the template: makes the keys that are not there, then writes what every cluster starts with. */
  bootstrap: {
    entry: 'functions/bootstrap.ts',
    trigger: 'deployment',
    streams: false,
    memoryMb: 1024,
    timeoutSeconds: 300,
    environment: [...api, ...ranges],
    parameters: ['service-account-key', 'static-tokens', 'ca', 'client-ca', 'client-ca-key'],
  },
} as const satisfies Record<string, FunctionRow>;

export type FunctionName = keyof typeof functions;
