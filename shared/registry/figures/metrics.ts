/**
 * metrics.k8s.io: NodeMetrics and PodMetrics, which are no objects but a look at what the nodes' agents measure (./summaries.ts). As
 * metrics-server has them, so that `kubectl top` and autoscalers find what they expect. When an administrator has that group served by
 * another server, this one says nothing.
 */
import {methodNotSupported, notFound, serviceUnavailable} from '../../errors.ts';
import {listOptions} from '../../http/list-options.ts';
import {listOffer, negotiate, objectOffer} from '../../http/negotiate.ts';
import type {NodeRoads} from '../../nodes/roads.ts';
import type {KubeObject} from '../../object.ts';
import {printDuration} from '../../schema/duration.ts';
import {printQuantity} from '../../schema/quantity.ts';
import type {Stored} from '../../storage/contract.ts';
import {type Handler, type Machine, prefixOf, type RequestContext, subjectOf} from '../context.ts';
import {decodeImage} from '../encode.ts';
import {respondObject, respondObjects} from '../respond.ts';
import {itemFilter} from '../selection.ts';
import {Summaries, type Usage} from './summaries.ts';

export const metricsGroup = 'metrics.k8s.io';
const apiVersion = `${metricsGroup}/v1beta1`;
const registration = {type: 'apiservices.apiregistration.k8s.io', key: `v1beta1.${metricsGroup}`};

export const getMetrics: Handler = async (context) => {
  const {request, info, machine, resource} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const summaries = await summariesOf(machine);
  const key = resource.namespaced ? `${info.namespace}/${info.name}` : info.name;
  const stored = await machine.store.read(resource.resource, key);
  if (!stored) throw notFound({group: '', resource: resource.resource}, info.name);
  const [metrics] = await metricsOf(context, summaries, [stored]);
  if (!metrics) throw notFound({group: metricsGroup, resource: resource.kind.toLowerCase()}, key);
  return respondObject(context, representation, metrics);
};

export const listMetrics: Handler = async (context) => {
  const {request, machine, resource} = context;
  const options = listOptions(request.query);
  if (options.watch) throw methodNotSupported(subjectOf(resource), 'watch');
  const representation = negotiate(request.headers, request.query, listOffer);
  const filter = itemFilter(context, options);
  const summaries = await summariesOf(machine);
  const {items} = await machine.store.scan(resource.resource, {prefix: prefixOf(context), ...(filter && {filter})});
  return respondObjects(context, representation, await metricsOf(context, summaries, items), {});
};

/** Of the objects that are there now. */
function metricsOf({machine, resource}: RequestContext, summaries: Summaries, items: readonly Stored[]): Promise<KubeObject[]> {
  return resource.namespaced ? ofPods(machine, summaries, items) : ofNodes(machine, summaries, items);
}

async function ofNodes({clock}: Machine, summaries: Summaries, items: readonly Stored[]): Promise<KubeObject[]> {
  const found = await summaries.of(items.map(({image}) => decodeImage(image)));
  return items.flatMap(({key, index}) => {
    const usage = found.get(key)?.node;
    if (!usage) return [];
    return [{...head('NodeMetrics', key, undefined, index.labels, clock.now()), ...measured(usage), usage: resources(usage)}];
  });
}

/** Asks only nodes that hold one of them. */
async function ofPods({store, clock}: Machine, summaries: Summaries, items: readonly Stored[]): Promise<KubeObject[]> {
  const nodeNames = new Set(items.flatMap(({index}) => index.fields?.['spec.nodeName'] || []));
  if (nodeNames.size === 0) return [];
  const [only] = nodeNames;
  const nodes =
    nodeNames.size === 1
      ? [await store.read('nodes', only!)]
      : (await store.scan('nodes', {prefix: '', filter: ({key}) => nodeNames.has(key)})).items;
  const found = await summaries.of(nodes.flatMap((node) => (node ? [decodeImage(node.image)] : [])));
  return items.flatMap(({key, index}) => {
    // By name: the uid of a static pod is not that of its mirror.
    const usage = found.get(index.fields?.['spec.nodeName'] ?? '')?.pods.get(key);
    if (!usage) return [];
    const [namespace, name] = key.split('/') as [string, string];
    const containers = usage.containers.map((container) => ({name: container.name, usage: resources(container)}));
    return [{...head('PodMetrics', name, namespace, index.labels, clock.now()), ...measured(usage), containers}];
  });
}

const head = (
  kind: string,
  name: string,
  namespace: string | undefined,
  labels: Readonly<Record<string, string>> | undefined,
  now: number,
): KubeObject => ({
  kind,
  apiVersion,
  metadata: {
    name,
    ...(namespace !== undefined && {namespace}),
    creationTimestamp: seconds(now),
    ...(labels && Object.keys(labels).length > 0 && {labels: {...labels}}),
  },
});

const measured = ({time, windowMs}: Pick<Usage, 'time' | 'windowMs'>): {timestamp: string; window: string} => ({
  timestamp: seconds(Date.parse(time)),
  window: printDuration(BigInt(Math.round(windowMs)) * 1_000_000n),
});

const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const resources = ({cpuNanoCores, memoryBytes}: Pick<Usage, 'cpuNanoCores' | 'memoryBytes'>): {cpu: string; memory: string} => ({
  cpu: printQuantity({nanos: BigInt(cpuNanoCores), format: 'DecimalSI'}),
  memory: printQuantity({nanos: BigInt(memoryBytes) * 1_000_000_000n, format: 'BinarySI'}),
});

/** What was heard is shared by all requests of a server. */
const known = new WeakMap<NodeRoads, Summaries>();

/** @throws StatusError 503 where no node can be asked, or somebody else is to answer */
async function summariesOf({nodes, clock, store}: Machine): Promise<Summaries> {
  const registered = await store.read(registration.type, registration.key);
  const service = registered && decodeImage(registered.image).spec?.service;
  if (service)
    throw serviceUnavailable(
      `${metricsGroup} is said to be served by the service ${service.namespace}/${service.name}, to which this server does not forward; without APIService ${registration.key} it is served from the nodes' agents`,
    );
  if (!nodes) throw serviceUnavailable('no way leads to the nodes from here');
  let summaries = known.get(nodes);
  if (!summaries) {
    summaries = new Summaries(nodes, clock);
    known.set(nodes, summaries);
  }
  return summaries;
}
