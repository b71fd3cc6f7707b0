/** The files of configMap, secret, downwardAPI and projected volumes, from the objects that they name. */
import type {KubeObject} from '../../shared/object.ts';
import {fieldValue, resourceValue, type Surroundings} from '../pods/downward.ts';
import type {References} from '../pods/environment.ts';
import type {DownwardItem, KeyItem, Pod, ProjectedSource, Volume} from '../pods/pod.ts';
import type {Payload, PayloadFile} from './atomic-writer.ts';

export interface TokenRequest {
  namespace: string;
  serviceAccount: string;
  audience: string | undefined;
  expirationSeconds: number;
  pod: {name: string; uid: string};
}

export interface PayloadInput extends Surroundings {
  references: References;
  /** A token that is good for a while yet. */
  token(request: TokenRequest): Promise<string>;
}

const defaultMode = 0o644;
const defaultTokenSeconds = 3600;

/** Undefined for volumes of other kinds. @throws Error in the reference's words when something is missing */
export async function payloadOf(pod: Pod, volume: Volume, input: PayloadInput): Promise<Payload | undefined> {
  const {configMap, secret, downwardAPI, projected} = volume;
  if (configMap) return payloadOfSources(pod, [{configMap}], configMap.defaultMode, input);
  if (secret) return payloadOfSources(pod, [{secret: {...secret, name: secret.secretName}}], secret.defaultMode, input);
  if (downwardAPI) return payloadOfSources(pod, [{downwardAPI}], downwardAPI.defaultMode, input);
  if (projected) return payloadOfSources(pod, projected.sources ?? [], projected.defaultMode, input);
  return undefined;
}

async function payloadOfSources(pod: Pod, sources: readonly ProjectedSource[], mode = defaultMode, input: PayloadInput): Promise<Payload> {
  const files = new Map<string, PayloadFile>();
  const {namespace} = pod.metadata;
  for (const {configMap, secret, downwardAPI, serviceAccountToken} of sources) {
    if (configMap) {
      const object = await input.references.configMap(namespace, configMap.name);
      addKeys(files, object, `configmap ${JSON.stringify(configMap.name)} not found`, configMap, mode, configMapData);
    } else if (secret) {
      const object = await input.references.secret(namespace, secret.name);
      addKeys(files, object, `secret ${JSON.stringify(secret.name)} not found`, secret, mode, secretData);
    } else if (downwardAPI) {
      for (const item of downwardAPI.items ?? [])
        files.set(item.path, {data: Buffer.from(downwardValue(pod, item, input)), mode: item.mode ?? mode});
    } else if (serviceAccountToken) {
      const {path, audience, expirationSeconds = defaultTokenSeconds} = serviceAccountToken;
      const {name, uid} = pod.metadata;
      const token = await input.token({
        namespace,
        serviceAccount: pod.spec.serviceAccountName || 'default',
        audience,
        expirationSeconds,
        pod: {name, uid},
      });
      files.set(path, tokenFile(pod, token, mode));
    }
  }
  return files;
}

/** Readable by the one who runs where all containers run as one, else by all: no group of the pod's own would help root's file. */
function tokenFile({spec}: Pod, token: string, mode: number): PayloadFile {
  const data = Buffer.from(token);
  const users = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])].map(
      ({securityContext}) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
    ),
  );
  const [user] = users;
  if (spec.securityContext?.fsGroup !== undefined) return {data, mode: 0o600};
  return users.size === 1 && user !== undefined ? {data, mode: 0o600, uid: user} : {data, mode};
}

function addKeys(
  files: Map<string, PayloadFile>,
  object: KubeObject | undefined,
  missing: string,
  {items, optional}: {items?: KeyItem[]; optional?: boolean},
  mode: number,
  dataOf: (object: KubeObject) => Map<string, Uint8Array>,
): void {
  if (!object) {
    if (optional) return;
    throw new Error(missing);
  }
  const data = dataOf(object);
  if (!items?.length) {
    for (const [key, value] of data) files.set(key, {data: value, mode});
    return;
  }
  for (const item of items) {
    const value = data.get(item.key);
    if (value) files.set(item.path, {data: value, mode: item.mode ?? mode});
    else if (!optional) throw new Error(`references non-existent ${missing.startsWith('secret') ? 'secret' : 'config'} key: ${item.key}`);
  }
}

const configMapData = ({data = {}, binaryData = {}}: KubeObject): Map<string, Uint8Array> =>
  new Map([
    ...Object.entries(data as Record<string, string>).map(([key, value]) => [key, Buffer.from(value)] as const),
    ...Object.entries(binaryData as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
  ]);

const secretData = ({data = {}}: KubeObject): Map<string, Uint8Array> =>
  new Map(Object.entries(data as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64')]));

function downwardValue(pod: Pod, item: DownwardItem, input: PayloadInput): string {
  if (item.fieldRef) return fieldValue(pod, item.fieldRef.fieldPath, input);
  if (item.resourceFieldRef) return resourceValue(pod, undefined, item.resourceFieldRef, input);
  return '';
}
