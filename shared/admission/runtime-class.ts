/** A runtime has costs and places of its own: both come from its class. */
import {goQuote} from '../field-errors.ts';
import {sameJson} from '../kinds/common/equal.ts';
import {entries, list} from '../kinds/common/loose.ts';
import type {KubeObject} from '../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

export const runtimeClass: Plugin = {
  name: 'RuntimeClass',
  operations: ['CREATE'],
  resources: ['pods'],
  async mutate(attributes, lookups) {
    const pod = attributes.object;
    const chosen = await find(attributes, lookups);
    if (!pod || !chosen) return;
    const overhead = chosen.overhead?.podFixed;
    if (chosen.overhead) {
      if (entries(pod.spec.overhead).length && !sameJson(overhead, pod.spec.overhead)) throw refuse(attributes, mismatch);
      if (overhead) pod.spec.overhead = structuredClone(overhead);
    }
    if (chosen.scheduling) place(attributes, pod, chosen);
  },
  async validate(attributes, lookups) {
    const chosen = await find(attributes, lookups);
    const overhead = attributes.object?.spec?.overhead;
    if (chosen?.overhead) {
      if (!sameJson(chosen.overhead.podFixed, overhead)) throw refuse(attributes, mismatch);
    } else if (overhead) throw refuse(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  },
};

async function find(attributes: AdmissionAttributes, lookups: Lookups): Promise<KubeObject | undefined> {
  const name = attributes.object?.spec?.runtimeClassName;
  if (name === undefined || name === null) return undefined;
  const chosen = await lookups.runtimeClass(name);
  if (!chosen) throw refuse(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
  return chosen;
}

function place(attributes: AdmissionAttributes, {spec}: KubeObject, {scheduling}: KubeObject): void {
  for (const [key, value] of entries(scheduling.nodeSelector)) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw refuse(attributes, `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`);
    spec.nodeSelector = {...spec.nodeSelector, [key]: value};
  }
  const own = list(spec.tolerations);
  const added = list(scheduling.tolerations).filter((toleration) => !own.some((other) => sameJson(other, toleration)));
  if (added.length) spec.tolerations = [...own, ...added];
}
