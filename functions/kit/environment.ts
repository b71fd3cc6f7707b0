/** What the template tells a function, parsed once. A variable that is missing or wrong is an error that names it. */
import type {Setting} from '../functions.ts';

export interface Environment {
  /** The logical cluster: the first part of all keys. */
  cluster: string;
  objectsTable: string;
  logTable: string;
  connectionsTable: string | undefined;
  /** Path of the parameters, with a slash at its end. */
  parameters: string | undefined;
  /** Where clients reach the API: host and port. */
  advertise: {address: string; port: number} | undefined;
  /** What a custom domain's mapping puts before each path. */
  basePath: string;
  issuer: string | undefined;
  serviceIpRange: string | undefined;
  nodePortRange: string | undefined;
  historyMs: number | undefined;
  /** Of CloudWatch metrics; without it only lines are logged. */
  metricsNamespace: string | undefined;
  /** `https://host/stage`, where messages to connections are posted. */
  socketCallback: string | undefined;
  /** `wss://host/stage`, where clients connect for the watch protocol. */
  watchSocket: string | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws Error */
export function readEnvironment(variables: Variables): Environment {
  const optional = (name: Setting): string | undefined => variables[name] || undefined;
  const required = (name: Setting): string => {
    const value = optional(name);
    if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
    return value;
  };
  const parsed = <T>(name: Setting, parse: (text: string) => T | undefined, want: string): T | undefined => {
    const text = optional(name);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) throw new Error(`the environment variable ${name} is ${JSON.stringify(text)}: want ${want}`);
    return value;
  };
  return {
    cluster: optional('CLUSTERLESS_CLUSTER') ?? 'default',
    objectsTable: required('CLUSTERLESS_OBJECTS_TABLE'),
    logTable: required('CLUSTERLESS_LOG_TABLE'),
    connectionsTable: optional('CLUSTERLESS_CONNECTIONS_TABLE'),
    parameters: parsed('CLUSTERLESS_PARAMETERS', (text) => (text.startsWith('/') ? text.replace(/\/*$/, '/') : undefined), '/a/path'),
    advertise: parsed('CLUSTERLESS_ADVERTISE', parseAddress, 'HOST or HOST:PORT'),
    basePath: parsed('CLUSTERLESS_BASE_PATH', (text) => `/${text.replace(/^\/+|\/+$/g, '')}`.replace(/^\/$/, ''), 'a path') ?? '',
    issuer: optional('CLUSTERLESS_ISSUER'),
    serviceIpRange: optional('CLUSTERLESS_SERVICE_IP_RANGE'),
    nodePortRange: optional('CLUSTERLESS_NODE_PORT_RANGE'),
    historyMs: parsed('CLUSTERLESS_HISTORY_SECONDS', (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) * 1000 : undefined), 'seconds'),
    metricsNamespace: optional('CLUSTERLESS_METRICS_NAMESPACE'),
    socketCallback: parsed('CLUSTERLESS_SOCKET_CALLBACK', (text) => (/^https?:\/\//.test(text) ? text : undefined), 'https://HOST/STAGE'),
    watchSocket: parsed('CLUSTERLESS_WATCH_SOCKET', (text) => (/^wss:\/\/[^\s/]+/.test(text) ? text : undefined), 'wss://HOST/STAGE'),
  };
}

function parseAddress(text: string): {address: string; port: number} | undefined {
  const match = /^\[?([0-9A-Za-z.:-]+?)\]?(?::(\d{1,5}))?$/.exec(text);
  return match ? {address: match[1]!, port: Number(match[2] ?? 443)} : undefined;
}
