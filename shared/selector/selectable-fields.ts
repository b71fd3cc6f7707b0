/** Which fields a field selector may name, per resource. What their values are is in the strategies of the kinds. */
import {goQuote} from '../field-errors.ts';
import {groupVersion} from '../object.ts';

export interface SelectableResource {
  group: string;
  version: string;
  resource: string;
  kind: string;
}

interface Selectable {
  names: readonly string[];
  /** Names of the query that are kept under another name in the index. */
  aliases?: Readonly<Record<string, string>>;
  refusal?: (name: string, resource: SelectableResource) => string;
}

const metadata = ['metadata.name', 'metadata.namespace'];
const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const byPrefix = (prefix: string, names: readonly string[]): string[] => names.map((name) => `${prefix}.${name}`);

const table: Readonly<Record<string, Selectable>> = {
  pods: {
    names: [
      ...metadata,
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
      'spec.host',
    ],
    aliases: {'spec.host': 'spec.nodeName'},
  },
  nodes: {names: ['metadata.name', 'spec.unschedulable']},
  namespaces: {names: ['metadata.name', 'status.phase']},
  services: {names: [...metadata, 'spec.clusterIP', 'spec.type']},
  secrets: {names: [...metadata, 'type']},
  replicationcontrollers: {names: [...metadata, 'status.replicas']},
  events: {names: [...metadata, ...byPrefix('involvedObject', involved), 'reason', 'reportingComponent', 'source', 'type']},
  'events.events.k8s.io': {
    names: [...metadata, ...byPrefix('regarding', involved), 'reason', 'reportingController', 'type'],
    aliases: {
      ...Object.fromEntries(involved.map((name) => [`regarding.${name}`, `involvedObject.${name}`])),
      reportingController: 'reportingComponent',
    },
  },
  'jobs.batch': {
    names: [...metadata, 'status.successful'],
    refusal: (name) => `field label ${goQuote(name)} not supported for Job`,
  },
  'certificatesigningrequests.certificates.k8s.io': {names: ['metadata.name', 'spec.signerName']},
  'clustertrustbundles.certificates.k8s.io': {names: ['metadata.name', 'spec.signerName']},
  'podcertificaterequests.certificates.k8s.io': {names: ['metadata.name', 'spec.signerName', 'spec.podName', 'spec.nodeName']},
  'resourceslices.resource.k8s.io': {
    names: ['metadata.name', 'spec.nodeName', 'spec.driver'],
    refusal: (name, resource) => `field label not supported for ${groupVersion(resource)}, Kind=${resource.kind}: ${name}`,
  },
};

const others: Selectable = {
  names: metadata,
  refusal: (name) => `${goQuote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

const selectable = (group: string, resource: string): Selectable => {
  const key = group ? `${resource}.${group}` : resource;
  return (Object.hasOwn(table, key) ? table[key] : undefined) ?? others;
};

export const selectableFieldNames = (group: string, resource: string): readonly string[] => selectable(group, resource).names;

/** The name under which the index keeps a field; or why it cannot be asked for. */
export function indexedName(name: string, resource: SelectableResource): {name: string} | {refusal: string} {
  const {names, aliases, refusal} = selectable(resource.group, resource.resource);
  if (names.includes(name)) return {name: aliases?.[name] ?? name};
  return {refusal: refusal?.(name, resource) ?? `field label not supported: ${name}`};
}
