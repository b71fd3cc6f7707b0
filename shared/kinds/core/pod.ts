/** A pod. Each of its endpoints may write its own part: spec, status, ephemeral containers, resources; the rest stays as stored. */
import type {JsonObject, KubeObject} from '../../object.ts';
import {dns1123Label} from '../common/names.ts';
import {podWarnings} from '../common/pod-warnings.ts';
import {qosClass} from '../common/qos.ts';
import {rfc3339} from '../common/time.ts';
import {define, metadataForStatus, setOrDelete} from '../define.ts';
import {validatePod, validatePodUpdate} from './pod.validate.ts';

type Terms = JsonObject[];

export const pod = define({
  generation: true,
  deleteReturnsObject: true,
  generationFollows: ({spec}) => spec,
  metadataOnUpdate: ['update', 'full'],
  newStatus: (object) => ({phase: 'Pending', qosClass: object.status?.qosClass || qosClass(object.spec)}),
  prepareForCreate(object, {now}) {
    if (object.spec?.schedulingGates?.length) object.status.conditions = [gatedCondition(now)];
    mergeLabelKeys(object);
    pairAccountNames(object);
    if (object.spec?.terminationGracePeriodSeconds < 0) object.spec.terminationGracePeriodSeconds = 1;
  },
  prepareForUpdate(object, old, {subresource}) {
    pairAccountNames(object);
    if (subresource === 'status') keepForStatus(object, old);
    else if (subresource === 'ephemeralcontainers') {
      const ephemeral = object.spec?.ephemeralContainers;
      restore(object, old);
      setOrDelete(object.spec, 'ephemeralContainers', ephemeral);
    } else if (subresource === 'resize') keepAllButResources(object, old);
  },
  validate: validatePod,
  validateUpdate: (object, old, {subresource}) => validatePodUpdate(object, old, subresource),
  warningsOnCreate(object) {
    const problems = dns1123Label(object.metadata.name ?? '');
    const name = problems.length
      ? [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
        ]
      : [];
    return [...name, ...podWarnings(object)];
  },
  selectableFields({spec, status}) {
    return {
      'spec.nodeName': spec?.nodeName ?? '',
      'spec.restartPolicy': spec?.restartPolicy ?? '',
      'spec.schedulerName': spec?.schedulerName ?? '',
      'spec.serviceAccountName': spec?.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec?.hostNetwork ?? false),
      'status.phase': status?.phase ?? '',
      'status.podIP': status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
      'status.nominatedNodeName': status?.nominatedNodeName ?? '',
    };
  },
  gracefulDeletion({spec, status}, requested) {
    const ended = status?.phase === 'Failed' || status?.phase === 'Succeeded';
    if (!spec?.nodeName || ended) return 0;
    const seconds: number = requested ?? spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
});

const gatedCondition = (now: number): JsonObject => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: rfc3339(now),
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** The name of the service account is served under its older name too. */
function pairAccountNames({spec}: KubeObject): void {
  const name = spec?.serviceAccountName || spec?.serviceAccount;
  if (name) Object.assign(spec, {serviceAccountName: name, serviceAccount: name});
}

/** matchLabelKeys of affinity and of spreading become part of the selectors that they refine. */
function mergeLabelKeys({spec, metadata}: KubeObject): void {
  const labels = metadata.labels ?? {};
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    const affinity = spec?.affinity?.[name];
    for (const {podAffinityTerm} of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as {podAffinityTerm: JsonObject}[])
      refine(podAffinityTerm, labels);
    for (const term of (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) as Terms) refine(term, labels);
  }
  for (const constraint of (spec?.topologySpreadConstraints ?? []) as Terms) refine(constraint, labels);
}

function refine(term: JsonObject | undefined, labels: Record<string, string>): void {
  const selector = term?.labelSelector as JsonObject | undefined;
  if (!term || !selector) return;
  const add = (keys: unknown, operator: string): void => {
    for (const key of (keys ?? []) as string[])
      if (labels[key] !== undefined)
        selector.matchExpressions = [...((selector.matchExpressions as Terms) ?? []), {key, operator, values: [labels[key]]}];
  };
  add(term.matchLabelKeys, 'In');
  add(term.mismatchLabelKeys, 'NotIn');
}

/** Clients that know only the first address must still be able to write it. */
function pairAddresses(status: JsonObject): void {
  for (const [single, many] of [
    ['podIP', 'podIPs'],
    ['hostIP', 'hostIPs'],
  ] as const) {
    const first = (status[many] as {ip?: string}[] | undefined)?.[0]?.ip;
    if (status[single] && single === 'podIP' && first !== status[single]) status[many] = [{ip: status[single]}];
    else if (!status[single] && first) status[single] = first;
  }
}

function keepForStatus(object: KubeObject, old: KubeObject): void {
  setOrDelete(object.metadata, 'ownerReferences', old.metadata.ownerReferences);
  setOrDelete(object.metadata, 'deletionTimestamp', old.metadata.deletionTimestamp);
  const status = object.status;
  if (!status) return;
  pairAddresses(status);
  if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass;
  if (!status.observedGeneration && old.status?.observedGeneration) status.observedGeneration = old.status.observedGeneration;
  const before: {type: string; observedGeneration?: number}[] = [...(old.status?.conditions ?? [])];
  for (const condition of (status.conditions ?? []) as typeof before) {
    const index = before.findIndex((other) => other.type === condition.type);
    if (index < 0) continue;
    const [same] = before.splice(index, 1);
    if (!condition.observedGeneration && same!.observedGeneration) condition.observedGeneration = same!.observedGeneration;
  }
}

function restore(object: KubeObject, old: KubeObject): void {
  object.spec = structuredClone(old.spec);
  setOrDelete(object, 'status', structuredClone(old.status));
  object.metadata = metadataForStatus(object.metadata, old.metadata);
}

/** A list that was shortened or reordered passes as it is: validation refuses it in better words. */
function keepAllButResources(object: KubeObject, old: KubeObject): void {
  const given = object.spec ?? {};
  for (const list of ['containers', 'initContainers']) if ((given[list]?.length ?? 0) !== (old.spec?.[list]?.length ?? 0)) return;
  restore(object, old);
  setOrDelete(object.spec, 'resources', given.resources);
  for (const list of ['containers', 'initContainers']) {
    const containers: JsonObject[] | undefined = given[list];
    if (!containers) continue;
    const kept: JsonObject[] = object.spec[list];
    const renamed = containers.some((container, index) => container.name !== kept[index]!.name);
    if (renamed) object.spec[list] = containers;
    else
      for (const [index, container] of containers.entries()) {
        setOrDelete(kept[index]!, 'resources', container.resources);
        setOrDelete(kept[index]!, 'resizePolicy', container.resizePolicy);
      }
  }
}
