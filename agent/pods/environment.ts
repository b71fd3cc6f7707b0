/** The environment of a container: services, then maps and secrets as a whole, then one by one, each later one over the earlier. */
import type {KubeObject} from '../../shared/object.ts';
import {fieldValue, resourceValue, type Surroundings} from './downward.ts';
import {expand} from './expand.ts';
import type {Container, EnvVar, Pod} from './pod.ts';

export interface References {
  /** Undefined when it is not there. @throws Error when that cannot be told */
  configMap(namespace: string, name: string): Promise<KubeObject | undefined>;
  secret(namespace: string, name: string): Promise<KubeObject | undefined>;
}

export interface EnvironmentInput extends Surroundings {
  references: References;
  /** Of the pod's namespace and those of the master's, as they are now. */
  services: ReadonlyMap<string, string>;
  /** Names of a map that no variable can have. */
  onSkipped(from: string, keys: string[]): void;
}

/** The container cannot be made until something else changes; the words go into its status. */
export class ConfigError extends Error {}

export async function environmentOf(pod: Pod, container: Container, input: EnvironmentInput): Promise<Map<string, string>> {
  const result = new Map<string, string>();
  for (const {prefix = '', configMapRef, secretRef} of container.envFrom ?? []) {
    const [kind, ref] = configMapRef ? (['configMap', configMapRef] as const) : (['secret', secretRef!] as const);
    const data = await dataOf(pod, kind, ref, input.references);
    const skipped: string[] = [];
    for (const [key, value] of data ?? []) {
      const name = prefix + key;
      if (name === '' || /[=\0]/.test(name)) skipped.push(name);
      else result.set(name, value);
    }
    if (skipped.length > 0)
      input.onSkipped(`${kind === 'configMap' ? 'ConfigMap' : 'Secret'} ${pod.metadata.namespace}/${ref.name}`, skipped.sort());
  }
  for (const variable of container.env ?? []) {
    const value = await variableValue(pod, container, variable, result, input);
    if (value !== undefined) result.set(variable.name, value);
  }
  for (const [name, value] of input.services) if (!result.has(name)) result.set(name, value);
  return result;
}

async function variableValue(
  pod: Pod,
  container: Container,
  {name, value, valueFrom}: EnvVar,
  before: ReadonlyMap<string, string>,
  input: EnvironmentInput,
): Promise<string | undefined> {
  if (value) return expand(value, new Map([...input.services, ...before]));
  if (!valueFrom) return '';
  const {fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef} = valueFrom;
  try {
    if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, input);
    if (resourceFieldRef) return resourceValue(pod, container, resourceFieldRef, input);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  const [kind, ref] = configMapKeyRef ? (['configMap', configMapKeyRef] as const) : (['secret', secretKeyRef] as const);
  if (!ref) throw new ConfigError(`environment variable ${name} has no source`);
  const data = await dataOf(pod, kind, ref, input.references);
  const found = data?.get(ref.key);
  if (found !== undefined || !data || ref.optional) return found;
  const {namespace} = pod.metadata;
  throw new ConfigError(
    kind === 'configMap'
      ? `couldn't find key ${ref.key} in ConfigMap ${namespace}/${ref.name}`
      : `couldn't find key ${ref.key} in Secret ${namespace}/${ref.name}`,
  );
}

async function dataOf(
  {metadata}: Pod,
  kind: 'configMap' | 'secret',
  {name, optional}: {name: string; optional?: boolean},
  references: References,
): Promise<Map<string, string> | undefined> {
  const object = await references[kind](metadata.namespace, name);
  if (object) return dataEntries(object, kind);
  if (optional) return undefined;
  throw new ConfigError(`${kind.toLowerCase()} ${JSON.stringify(name)} not found`);
}

function dataEntries(object: KubeObject, kind: 'configMap' | 'secret'): Map<string, string> {
  const data: Record<string, string> = object.data ?? {};
  const sorted = Object.keys(data).sort();
  return new Map(sorted.map((key) => [key, kind === 'secret' ? Buffer.from(data[key]!, 'base64').toString() : data[key]!]));
}

/** What Docker's links once set, for each service that has an address. */
export function serviceVariables(services: Iterable<KubeObject>): Map<string, string> {
  const result = new Map<string, string>();
  for (const {metadata, spec} of services) {
    const ip: string | undefined = spec?.clusterIP;
    if (!ip || ip === 'None' || !spec.ports?.length) continue;
    const prefix = metadata.name!.toUpperCase().replaceAll('-', '_');
    const host = ip.includes(':') ? `[${ip}]` : ip;
    result.set(`${prefix}_SERVICE_HOST`, ip);
    result.set(`${prefix}_SERVICE_PORT`, String(spec.ports[0].port));
    for (const {name, port} of spec.ports)
      if (name) result.set(`${prefix}_SERVICE_PORT_${name.toUpperCase().replaceAll('-', '_')}`, String(port));
    spec.ports.forEach(({port, protocol = 'TCP'}: {port: number; protocol?: string}, index: number) => {
      const scheme = protocol.toLowerCase();
      if (index === 0) result.set(`${prefix}_PORT`, `${scheme}://${host}:${port}`);
      const each = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
      result.set(each, `${scheme}://${host}:${port}`);
      result.set(`${each}_PROTO`, scheme);
      result.set(`${each}_PORT`, String(port));
      result.set(`${each}_ADDR`, ip);
    });
  }
  return result;
}
