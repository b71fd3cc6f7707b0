/** A pod itself: what it limits it also requests, and resources of the pod as a whole follow from those of its containers. */
import {addQuantity, compareQuantity} from '../../schema/quantity.ts';
import {type Defaults, fill, isEmptyMap} from '../common/defaulter.ts';
import {list, type Part} from '../common/loose.ts';

type Amounts = Record<string, string>;

/** From before init containers had a field: nobody may read them any more. */
const formerAnnotations = ['beta', 'alpha'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
]);

function dropFormerAnnotations({metadata}: Part): void {
  const annotations = metadata?.annotations;
  if (!annotations) return;
  for (const name of formerAnnotations) delete annotations[name];
  if (isEmptyMap(annotations)) delete metadata.annotations;
}

export const podDefaults: Defaults = {
  'core/v1.PodTemplateSpec': dropFormerAnnotations,
  'core/v1.Pod': (pod) => {
    const {spec} = pod;
    dropFormerAnnotations(pod);
    // Older clients asked for "at once" this way.
    if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
    for (const container of list(spec.containers)) requestWhatIsLimited(container);
    for (const container of list(spec.initContainers)) requestWhatIsLimited(container);
    if (spec.resources) {
      limitHugePages(spec);
      requestForPod(spec);
    }
    fill(spec, 'enableServiceLinks', true);
    if (spec.hostNetwork)
      for (const {ports} of [...list(spec.containers), ...list(spec.initContainers)])
        for (const port of list(ports)) if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort;
  },
};

function requestWhatIsLimited({resources}: Part): void {
  if (!resources?.limits) return;
  resources.requests = {...resources.limits, ...resources.requests};
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Resources that a pod may name for all of its containers together. */
const isForPods = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

/** Huge pages cannot be overcommitted, so the pod's limit is what its containers may use. */
function limitHugePages(spec: Part): void {
  const {limits, requests} = spec.resources;
  if (isEmptyMap(limits) && isEmptyMap(requests)) return;
  const effective: Amounts = {...limits};
  for (const [name, amount] of Object.entries(ofContainers(spec, 'limits')))
    if (isHugePages(name) && requests?.[name] === undefined) effective[name] ??= amount;
  if (!isEmptyMap(effective)) spec.resources.limits = effective;
}

function requestForPod(spec: Part): void {
  const {limits, requests} = spec.resources;
  if (isEmptyMap(limits)) return;
  const effective: Amounts = {...requests};
  for (const [name, amount] of Object.entries(ofContainers(spec, 'requests')))
    if (isForPods(name) && !isHugePages(name)) effective[name] ??= amount;
  for (const [name, amount] of Object.entries(limits as Amounts)) if (isForPods(name)) effective[name] ??= amount;
  if (!isEmptyMap(effective)) spec.resources.requests = effective;
}

/** What the containers of a pod need together: those that run side by side in sum, or the greatest of those that run before them. */
function ofContainers(spec: Part, kind: 'requests' | 'limits'): Amounts {
  const together: Amounts = {};
  for (const {resources} of list(spec.containers)) add(together, resources?.[kind]);
  const sidecars: Amounts = {};
  const greatest: Amounts = {};
  for (const {resources, restartPolicy} of list(spec.initContainers)) {
    const own: Amounts = {...resources?.[kind]};
    if (restartPolicy === 'Always') {
      add(together, own);
      add(sidecars, own);
      atLeast(greatest, sidecars);
    } else {
      add(own, sidecars);
      atLeast(greatest, own);
    }
  }
  atLeast(together, greatest);
  return together;
}

function add(sum: Amounts, more: Amounts = {}): void {
  for (const [name, amount] of Object.entries(more)) sum[name] = sum[name] === undefined ? amount : addQuantity(sum[name], amount);
}

function atLeast(amounts: Amounts, least: Amounts): void {
  for (const [name, amount] of Object.entries(least)) {
    const present = amounts[name];
    if (present === undefined || compareQuantity(amount, present) > 0) amounts[name] = amount;
  }
}
