/**
 * Claims of devices: their number, and the devices of each class at their worst. A class may also go by the name of an extended resource:
 * then limits on that name hold as well, less what the pod that a claim was made for has been charged already.
 */
import {entries, list, type Part} from '../../kinds/common/loose.ts';
import type {KubeObject} from '../../object.ts';
import {addQuantity} from '../../schema/quantity.ts';
import type {AdmissionAttributes} from '../attributes.ts';
import type {Lookups} from '../lookups.ts';
import {type Evaluator, onWrite} from './evaluator.ts';
import {isExtendedLimit, podUsage} from './pods.ts';
import {excess, type Quantities} from './quantities.ts';

const count = 'count/resourceclaims.resource.k8s.io';
const ofClass = '.deviceclass.resource.k8s.io/devices';
const implicitPrefix = 'deviceclass.resource.kubernetes.io/';
const madeForPod = 'resource.kubernetes.io/extended-resource-claim';
/** What a claim for all devices that there are may come to. */
const maxDevices = 32;

export async function claimEvaluator({namespace, object, old, now}: AdmissionAttributes, lookups: Lookups): Promise<Evaluator> {
  const resourceOf = new Map<string, string>();
  const resources = new Set<string>();
  for (const {metadata, spec} of await lookups.deviceClasses()) {
    resources.add(implicitPrefix + metadata.name);
    if (!spec?.extendedResourceName) continue;
    resources.add(spec.extendedResourceName as string);
    resourceOf.set(metadata.name!, spec.extendedResourceName as string);
  }
  const charged = new Map<KubeObject, Quantities>();
  for (const claim of [object, old]) if (claim) charged.set(claim, await chargedToPod(claim, namespace, lookups, now));
  return {
    handles: onWrite,
    measures: (name) =>
      name === count || name.endsWith(ofClass) || (isExtendedLimit(name) && resources.has(name.slice('requests.'.length))),
    usage(claim) {
      const devices = deviceCounts(claim);
      const asResources: Record<string, string> = {};
      for (const [name, amount] of devices) {
        asResources[`requests.${implicitPrefix}${name}`] = amount;
        const resource = resourceOf.get(name);
        if (resource) asResources[`requests.${resource}`] = amount;
      }
      const rest = entries(excess(asResources, charged.get(claim) ?? {})).filter(([, amount]) => amount !== '0');
      const byClass = [...devices].map(([name, amount]) => [name + ofClass, amount]);
      return {...Object.fromEntries([...byClass, ...rest]), [count]: '1'};
    },
  };
}

function deviceCounts({spec}: KubeObject): Map<string, string> {
  const sums = new Map<string, string>();
  for (const request of list(spec?.devices && (spec.devices as Part).requests)) {
    const most = new Map<string, number>();
    for (const {deviceClassName, allocationMode, count: devices} of request.firstAvailable ?? list(request.exactly && [request.exactly])) {
      const wanted = allocationMode === 'All' ? maxDevices : allocationMode === 'ExactCount' ? Number(devices) : 0;
      most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, wanted));
    }
    for (const [name, devices] of most) sums.set(name, addQuantity(sums.get(name) ?? '0', String(devices)));
  }
  return sums;
}

/** The usage of the pod whose extended resources became this claim; nothing when the claim cannot be that one. */
async function chargedToPod({metadata}: KubeObject, namespace: string, lookups: Lookups, now: number): Promise<Quantities> {
  const owner = controllerOf(metadata);
  if (metadata.annotations?.[madeForPod] !== 'true' || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return {};
  const pod = await lookups.pod(namespace, owner.name);
  if (!pod || pod.metadata.uid !== owner.uid) return {};
  const known = (pod.status?.extendedResourceClaimStatus as Part)?.resourceClaimName;
  if (known !== undefined && known !== metadata.name) return {};
  if (known === undefined) {
    // The pod does not say yet: only its first claim can be meant.
    const born = Date.parse(metadata.creationTimestamp ?? '');
    for (const {metadata: other} of await lookups.resourceClaims(namespace)) {
      if (other.annotations?.[madeForPod] !== 'true' || controllerOf(other)?.uid !== owner.uid) continue;
      const otherBorn = Date.parse(other.creationTimestamp ?? '');
      if (otherBorn < born || (otherBorn === born && other.name! < metadata.name!)) return {};
    }
  }
  return podUsage(pod, now);
}

const controllerOf = ({ownerReferences}: KubeObject['metadata']): Part => list(ownerReferences).find(({controller}) => controller);
