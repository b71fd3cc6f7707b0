/** The API of one environment: opened with its first request over the store that all environments share, and kept for the others. */
import type {ApiOptions} from '../../shared/api.ts';
import {parseTokenFile} from '../../shared/auth/token-file.ts';
import {type Composed, compose, type Parts} from '../../shared/compose.ts';
import {type FunctionName, type FunctionRow, functions, type Parameter} from '../functions.ts';
import {awsTokens} from './aws-tokens.ts';
import {doors} from './doors.ts';
import {type Environment, readEnvironment} from './environment.ts';
import {log} from './log.ts';
import {livenessOf} from './tables.ts';

export interface Cluster extends Composed {
  environment: Environment;
  options: ApiOptions;
}

/** Of an environment, what else the API is made with. */
export type MoreOf = (environment: Environment) => Partial<ApiOptions>;

export type PartsOf = (options: ApiOptions) => Parts;

export interface OwnCluster {
  /** @throws Error that names the variable */
  environment(): Environment;
  /** Opens at most once at a time, and again when it failed: the next request may find what this one did not. */
  open(): Promise<Cluster>;
}

export function clusterOf(name: FunctionName, parts: PartsOf, more: MoreOf = () => ({})): OwnCluster {
  let environment: Environment | undefined;
  let opened: Promise<Cluster> | undefined;
  const own: OwnCluster = {
    environment: () => (environment ??= readEnvironment(doors.variables)),
    open: () =>
      (opened ??= open(functions[name], parts, own, more).catch((error: unknown) => {
        opened = undefined;
        throw error;
      })),
  };
  return own;
}

async function open(row: FunctionRow, parts: PartsOf, own: OwnCluster, more: MoreOf): Promise<Cluster> {
  const environment = own.environment();
  const [store, parameters] = await Promise.all([
    doors.openStore(environment, {asks: row.trigger === 'rest'}),
    readParameters(environment, row),
  ]);
  const {advertise, issuer, serviceIpRange, nodePortRange, historyMs, watchSocket} = environment;
  const {'static-tokens': tokens, identities} = parameters;
  const options: ApiOptions = {
    store,
    clock: doors.clock,
    log,
    ...(tokens !== undefined && {staticTokens: parseTokenFile(tokens, 'static-tokens', (text) => log.warn({}, text))}),
    ...(identities !== undefined && {awsIam: awsTokens(identities, doors)}),
    ...optional('serviceAccountKey', parameters['service-account-key']),
    ...optional('caCertificate', parameters['ca']),
    ...optional('clientCaCertificate', parameters['client-ca']),
    ...optional('advertise', advertise),
    ...optional('serviceAccountIssuer', issuer),
    ...optional('serviceClusterIpRange', serviceIpRange),
    ...optional('serviceNodePortRange', nodePortRange),
    ...optional('watchHistoryMs', historyMs),
    ...optional('watchSocket', watchSocket),
    ...optional('nodeTunnel', watchSocket),
    ...optional('nodeLiveness', livenessOf(environment)),
    ...more(environment),
  };
  const composed = compose(options, parts(options));
  await composed.assembly.warmUp();
  return {...composed, environment, options};
}

async function readParameters(
  {parameters: path}: Environment,
  {parameters: names}: FunctionRow,
): Promise<Partial<Record<Parameter, string>>> {
  return path === undefined || names.length === 0 ? {} : doors.readParameters(path, names);
}

function optional<K extends keyof ApiOptions>(name: K, value: ApiOptions[K] | undefined): Partial<ApiOptions> {
  return value === undefined ? {} : ({[name]: value} as Partial<ApiOptions>);
}
