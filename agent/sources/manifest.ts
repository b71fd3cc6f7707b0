/**
 * Pods from a text: YAML or JSON, a Pod or a PodList, decoded, defaulted and validated as the API would, then made this node's own: a name of
 * their own, an id from their content. Loads the types of the API, so it is imported only where a manifest is read.
 */
import {createHash} from 'node:crypto';
import type {FieldError} from '../../shared/field-errors.ts';
import {validateObjectMeta} from '../../shared/kinds/common/metadata.ts';
import {validatePod} from '../../shared/kinds/core/pod.validate.ts';
import {applyDefaults} from '../../shared/kinds/defaults.ts';
import type {KubeObject} from '../../shared/object.ts';
import {normalize} from '../../shared/schema/decode.ts';
import {parseYaml} from '../../shared/schema/yaml.ts';
import {annotation, type Pod} from '../pods/pod.ts';

export interface ManifestOrigin {
  source: 'file' | 'http' | 'manifest';
  /** What tells two manifests apart: the file's path, the URL. */
  from: string;
  node: string;
  now: number;
}

const maxBytes = 10 * 1024 * 1024;

/** @throws Error that says what is wrong, the first pod's name included */
export function readManifest(bytes: Uint8Array, origin: ManifestOrigin): Pod[] {
  if (bytes.length > maxBytes) throw new Error(`manifest is longer than ${maxBytes} bytes`);
  const {value} = parseYaml(bytes);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('manifest holds no object');
  const {kind, apiVersion} = value;
  if (apiVersion !== 'v1' || (kind !== 'Pod' && kind !== 'PodList'))
    throw new Error(`manifest holds ${JSON.stringify(kind ?? '')} of ${JSON.stringify(apiVersion ?? '')}, not a Pod or PodList of v1`);
  const object = normalize(value, {group: '', version: 'v1', kind});
  const items: KubeObject[] =
    kind === 'PodList' ? (object.items ?? []).map((item: object) => ({...item, kind: 'Pod', apiVersion: 'v1'})) : [object];
  return items.map((item) => own(item, origin));
}

function own(object: KubeObject, {source, from, node, now}: ManifestOrigin): Pod {
  const hash = createHash('md5').update(`host:${node}${source}:${from}`).update(JSON.stringify(object)).digest('hex');
  applyDefaults(object);
  const {metadata} = object;
  metadata.uid ||= hash;
  metadata.namespace ||= 'default';
  const given = metadata.name ?? '';
  metadata.name = `${given}-${node.toLowerCase()}`;
  object.spec.nodeName = node.toLowerCase();
  metadata.annotations = {
    ...metadata.annotations,
    [annotation.hash]: metadata.uid,
    [annotation.source]: source === 'manifest' ? 'http' : source,
    [annotation.seen]: new Date(now).toISOString(),
  };
  // A node that is being emptied keeps what its own files ask for.
  if (source === 'file') object.spec.tolerations = [...(object.spec.tolerations ?? []), {operator: 'Exists', effect: 'NoExecute'}];
  const errors: FieldError[] = [...validateObjectMeta(metadata, {namespaced: true}), ...validatePod(object)];
  if (given === '') throw new Error('pod has no name');
  if (errors.length > 0)
    throw new Error(`pod ${JSON.stringify(given)}: ${errors.map(({field, message}) => `${field}: ${message}`).join(', ')}`);
  return object as unknown as Pod;
}
