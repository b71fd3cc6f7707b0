/**
 * Pods from a text: YAML or JSON, a Pod or a PodList, in one document or several; decoded, defaulted and validated as the API would, then made
 * this node's own: a name of their own, an id from their content. Loads the types of the API, so it is imported only where a manifest is read.
 */
import {createHash} from 'node:crypto';
import type {FieldError} from '../../shared/field-errors.ts';
import {validateObjectMeta} from '../../shared/kinds/common/metadata.ts';
import {validatePod} from '../../shared/kinds/core/pod.validate.ts';
import {applyDefaults} from '../../shared/kinds/defaults.ts';
import type {Json, KubeObject} from '../../shared/object.ts';
import {normalize} from '../../shared/schema/decode.ts';
import {parseYaml} from '../../shared/schema/yaml.ts';
import {annotation, type Pod} from '../pods/pod.ts';
import {maxManifestBytes} from './limits.ts';

export interface ManifestOrigin {
  source: 'file' | 'http' | 'manifest';
  /** What tells two manifests apart: the file's path, the URL, the manifest's name. */
  from: string;
  node: string;
  now: number;
}

/** A reader of YAML needs seconds, and hundreds of times as much memory, for what JSON does at once. */
const maxYamlBytes = 2 * 1024 * 1024;
/** Begins a document wherever it stands, even within a text. */
const documentMark = /^---(?=\s|$)/m;

/** It names folders. */
const isUid = /^[0-9A-Za-z][-0-9A-Za-z]{0,63}$/;

/** All of it or nothing. @throws Error that says what is wrong, the first pod's name included */
export function readManifest(bytes: Uint8Array, origin: ManifestOrigin): Pod[] {
  if (bytes.length > maxManifestBytes) throw new Error(`manifest is longer than ${maxManifestBytes} bytes`);
  const documents = documentsOf(bytes);
  if (documents.length === 0) throw new Error('manifest holds no object');
  const pods = documents.flatMap((value) => itemsOf(value).map((item) => own(item, origin)));
  const names = new Set<string>();
  for (const pod of pods) {
    const {name, namespace} = pod.metadata;
    const key = `${namespace}/${name}`;
    if (names.has(key)) throw new Error(`manifest holds pod ${JSON.stringify(key)} twice`);
    names.add(key);
  }
  return pods;
}

function documentsOf(bytes: Uint8Array): Json[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (/^\s*\{/.test(text)) {
    try {
      return [JSON.parse(text) as Json];
    } catch {
      // YAML may begin with a brace too.
    }
  }
  if (bytes.length > maxYamlBytes) throw new Error(`manifest in YAML is longer than ${maxYamlBytes} bytes: use JSON, or several`);
  return text
    .split(documentMark)
    .map((part) => parseYaml(Buffer.from(part)).value)
    .filter((value) => value !== null);
}

function itemsOf(value: Json): KubeObject[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('manifest holds no object');
  const {kind, apiVersion} = value;
  if (apiVersion !== 'v1' || (kind !== 'Pod' && kind !== 'PodList'))
    throw new Error(`manifest holds ${JSON.stringify(kind ?? '')} of ${JSON.stringify(apiVersion ?? '')}, not a Pod or PodList of v1`);
  const object = normalize(value, {group: '', version: 'v1', kind});
  return kind === 'PodList' ? (object.items ?? []).map((item: object) => ({...item, kind: 'Pod', apiVersion: 'v1'})) : [object];
}

function own(object: KubeObject, {source, from, node, now}: ManifestOrigin): Pod {
  const hash = createHash('md5').update(`host:${node}${source}:${from}`).update(JSON.stringify(object)).digest('hex');
  applyDefaults(object);
  const {metadata} = object;
  // Of a pod that was copied from an API: it begins its life here.
  delete object.status;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
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
  if (!isUid.test(metadata.uid)) throw new Error(`pod ${JSON.stringify(given)}: metadata.uid: ${JSON.stringify(metadata.uid)} is no uid`);
  if (errors.length > 0)
    throw new Error(`pod ${JSON.stringify(given)}: ${errors.map(({field, message}) => `${field}: ${message}`).join(', ')}`);
  return object as unknown as Pod;
}
