/** Whether a pod is well formed, and what each of its endpoints may change. Metadata has been checked before. */
import {type FieldError, fieldForbidden, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {legacyIp, qualified, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {ipFamily} from '../common/ip.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {inRange} from '../common/names.ts';
import {podAnnotationsUpdate, profilesAgree} from '../common/pod-annotations.ts';
import {podBody} from '../common/pod-spec.ts';
import {qosClass} from '../common/qos.ts';
import {tolerations} from '../common/scheduling.ts';

const mirror = 'kubernetes.io/config.mirror';

export function validatePod({metadata, spec}: KubeObject): FieldError[] {
  const errors = podBody(metadata, spec);
  if (spec?.ephemeralContainers?.length) errors.push(fieldForbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if (spec?.nodeName && spec.schedulingGates?.length)
    errors.push(fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return [...errors, ...profilesAgree(metadata, spec, 'spec')];
}

export function validatePodUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return statusUpdate(object, old);
  const errors = [
    ...podBody(object.metadata, object.spec),
    ...(subresource === 'resize' ? [] : podAnnotationsUpdate(object.metadata, old.metadata, object.spec)),
  ];
  if (subresource === 'ephemeralcontainers') return ephemeralUpdate(object, old, errors);
  if (subresource === 'resize') return resize(object, old, errors);
  return specUpdate(object, old, errors);
}

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

function specUpdate({spec}: KubeObject, {spec: old}: KubeObject, errors: FieldError[]): FieldError[] {
  for (const field of ['containers', 'initContainers']) {
    const path = `spec.${field}`;
    if (list(spec[field]).length !== list(old[field]).length)
      return [...errors, fieldForbidden(path, 'pod updates may not add or remove containers')];
    for (const [index, {image = ''}] of list(spec[field]).entries()) {
      if (!image) errors.push(required(`${path}[${index}].image`));
      if (image.trim() !== image) errors.push(invalid(`${path}[${index}].image`, image, 'must not have leading or trailing whitespace'));
    }
  }
  const [after, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds];
  const at = 'spec.activeDeadlineSeconds';
  if (after !== undefined) {
    if (after < 0 || after > 2147483647) return [...errors, invalid(at, after, inRange(0, 2147483647))];
    if (before !== undefined && before < after) return [...errors, invalid(at, after, 'must be less than or equal to previous value')];
  } else if (before !== undefined) errors.push(invalid(at, null, 'must not update from a positive integer to nil value'));
  errors.push(...addedTolerations(spec, old), ...removedGates(spec, old));
  if (sameJson(spec, old)) return errors;
  const masked = structuredClone(spec);
  for (const field of ['containers', 'initContainers'])
    for (const [index, container] of list(masked[field]).entries()) container.image = old[field][index].image;
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) keep(masked, old, field);
  if (old.terminationGracePeriodSeconds < 0 && masked.terminationGracePeriodSeconds === 1)
    keep(masked, old, 'terminationGracePeriodSeconds');
  if (old.schedulingGates?.length) errors.push(...gatedPlacement(masked, old));
  if (!sameJson(masked, old))
    errors.push(fieldForbidden('spec', `pod updates may not change fields other than ${changeable}\n${changes(old, masked)}`));
  return errors;
}

function keep(target: Part, source: Part, field: string): void {
  if (source[field] === undefined) delete target[field];
  else target[field] = source[field];
}

/** The fields that differ. The reference prints a diff of its own representation here, which no client reads. */
const changes = (old: Part, masked: Part): string =>
  [...new Set([...Object.keys(old), ...Object.keys(masked)])]
    .filter((field) => !sameJson(old[field], masked[field], field))
    .map((field) => `- ${field}: ${JSON.stringify(old[field] ?? null)}\n+ ${field}: ${JSON.stringify(masked[field] ?? null)}\n`)
    .join('');

function addedTolerations(spec: Part, old: Part): FieldError[] {
  const path = 'spec.tolerations';
  for (const toleration of list(old.tolerations)) {
    const {tolerationSeconds: _seconds, ...fixed} = toleration;
    const found = list(spec.tolerations).some(({tolerationSeconds: _other, ...candidate}) => sameJson(candidate, fixed));
    if (!found) return [fieldForbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
  }
  return tolerations(spec.tolerations, path);
}

const removedGates = (spec: Part, old: Part): FieldError[] =>
  list(spec.schedulingGates).flatMap(({name}, index) =>
    list(old.schedulingGates).some((gate) => gate.name === name)
      ? []
      : [fieldForbidden(`spec.schedulingGates[${index}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );

/** A pod that waits for its gates may still be told more precisely where to run. */
function gatedPlacement(masked: Part, old: Part): FieldError[] {
  const errors: FieldError[] = [];
  if (entries(old.nodeSelector).some(([key, value]) => masked.nodeSelector?.[key] !== value))
    errors.push(
      invalid(
        'spec.nodeSelector',
        masked.nodeSelector ?? null,
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    );
  keep(masked, old, 'nodeSelector');
  const must = 'requiredDuringSchedulingIgnoredDuringExecution';
  const [after, before] = [masked.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  const path = `spec.affinity.nodeAffinity.${must}.nodeSelectorTerms`;
  if (!sameJson(after, before)) {
    const [terms, stored] = [list(after?.[must]?.nodeSelectorTerms), list(before?.[must]?.nodeSelectorTerms)];
    if (stored.length && stored.length !== terms.length)
      errors.push(invalid(path, terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'));
    else
      for (const [index, term] of stored.entries())
        if (!onlyAdds(terms[index], term))
          errors.push(invalid(`${path}[${index}]`, terms[index], 'only additions are allowed (no mutations or deletions)'));
    const affinity = {...masked.affinity};
    keep(affinity, old.affinity ?? {}, 'nodeAffinity');
    if (Object.keys(affinity).length || old.affinity) masked.affinity = affinity;
    else delete masked.affinity;
  }
  return errors;
}

function onlyAdds(term: Part, old: Part): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  if (lists.every((field) => !list(old[field]).length) && lists.some((field) => list(term[field]).length)) return false;
  return lists.every((field) => sameJson(list(term[field]).slice(0, list(old[field]).length), list(old[field])));
}

function ephemeralUpdate({spec}: KubeObject, old: KubeObject, errors: FieldError[]): FieldError[] {
  if (old.metadata.annotations?.[mirror] !== undefined) return [fieldForbidden('', 'static pods do not support ephemeral containers')];
  const path = 'spec.ephemeralContainers';
  for (const before of list(old.spec.ephemeralContainers)) {
    const after = list(spec.ephemeralContainers).findLast(({name}) => name === before.name);
    const name = JSON.stringify(before.name);
    if (!after) errors.push(fieldForbidden(path, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!sameJson(after, before))
      errors.push(fieldForbidden(path, `existing ephemeral containers ${name} may not be changed\n${changes(before, after)}`));
  }
  return errors;
}

function resize(object: KubeObject, old: KubeObject, errors: FieldError[]): FieldError[] {
  if (old.metadata.annotations?.[mirror] !== undefined) return [fieldForbidden('', 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [fieldForbidden('', 'windows pods cannot be resized')];
  if ((old.status?.qosClass || qosClass(old.spec)) !== qosClass(object.spec))
    errors.push(invalid('spec', object.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  const running = list(old.status?.containerStatuses).find((status) => status.state?.running);
  if (running && !running.resources) errors.push(fieldForbidden('spec', 'Pod running on node without support for resize'));
  const removed = (after: Part, before: Part, at: string, what: string): void => {
    for (const kind of ['requests', 'limits'])
      if (entries(before?.[kind]).some(([name]) => after?.[kind]?.[name] === undefined))
        errors.push(fieldForbidden(`${at}.${kind}`, `${what} ${kind} cannot be removed`));
  };
  const hasPodResources = ({resources}: Part): boolean => entries(resources?.requests).length + entries(resources?.limits).length > 0;
  const masked = structuredClone(object.spec);
  if (hasPodResources(object.spec) || hasPodResources(old.spec)) {
    if (old.spec.resources && !object.spec.resources)
      errors.push(fieldForbidden('spec.resources', 'pod-level resources cannot be removed'));
    else removed(object.spec.resources, old.spec.resources, 'spec.resources', 'pod-level resource');
    maskCompute(masked, old.spec);
    if (!sameJson(masked.resources, old.spec.resources))
      errors.push(fieldForbidden('spec', 'only cpu and memory resources are mutable at pod-level'));
  }
  const order = resizeOrder(object.spec, old.spec);
  if (order.length) return [...errors, ...order];
  for (const field of ['initContainers', 'containers'])
    for (const [index, container] of list(old.spec[field]).entries())
      removed(object.spec[field][index].resources, container.resources, `spec.${field}[${index}].resources`, 'resource');
  for (const [index, container] of list(masked.containers).entries()) {
    maskCompute(container, old.spec.containers[index]);
    if (!sameJson(container, old.spec.containers[index])) errors.push(fieldForbidden('spec', 'only cpu and memory resources are mutable'));
  }
  for (const [index, container] of list(masked.initContainers).entries()) {
    const before = old.spec.initContainers[index];
    const at = `spec.initContainers[${index}]`;
    const touched = !sameJson(container, before);
    maskCompute(container, before);
    if (!sameJson(container, before))
      errors.push(fieldForbidden(at, 'only cpu and memory resources for init or sidecar containers are mutable'));
    if (touched && container.restartPolicy !== 'Always')
      for (const {restartPolicy} of list(container.resizePolicy))
        if (restartPolicy === 'RestartContainer')
          errors.push(fieldForbidden(at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'));
  }
  if (!errors.length && !sameJson(masked, old.spec)) errors.push(fieldForbidden('spec', 'only cpu and memory resources are mutable'));
  return errors;
}

function maskCompute(holder: Part, old: Part): void {
  const resources: Part = {...holder.resources};
  for (const kind of ['requests', 'limits']) {
    const amounts: Part = {...resources[kind]};
    for (const name of ['cpu', 'memory']) keep(amounts, old.resources?.[kind] ?? {}, name);
    if (Object.keys(amounts).length) resources[kind] = amounts;
    else delete resources[kind];
  }
  if (Object.keys(resources).length || old.resources) holder.resources = resources;
  else delete holder.resources;
}

const resizeOrder = (spec: Part, old: Part): FieldError[] =>
  ['containers', 'initContainers'].flatMap((field) => {
    if (list(spec[field]).length !== list(old[field]).length)
      return [fieldForbidden(`spec.${field}`, `${field} may not be added or removed on resize`)];
    return list(old[field]).flatMap(({name}, index) =>
      spec[field][index].name === name
        ? []
        : [fieldForbidden(`spec.${field}[${index}].name`, `${field} may not be renamed or reordered on resize`)],
    );
  });

function statusUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const {status = {}} = object;
  const before = old.status ?? {};
  const errors = podAnnotationsUpdate(object.metadata, old.metadata, object.spec);
  for (const [index, condition] of list(status.conditions).entries()) {
    const at = `status.conditions[${index}]`;
    if (condition.observedGeneration < 0)
      errors.push(invalid(`${at}.observedGeneration`, condition.observedGeneration, 'must be a non-negative integer'));
    if (!['PodScheduled', 'Ready', 'Initialized'].includes(condition.type)) errors.push(...qualified(condition.type ?? '', `${at}.Type`));
  }
  const nominated = status.nominatedNodeName;
  if (nominated && nominated !== before.nominatedNodeName) {
    errors.push(...subdomain(nominated, 'status.nominatedNodeName'));
    if (old.spec?.nodeName)
      errors.push(fieldForbidden('status.nominatedNodeName', 'may not be set on pods that are already bound to a node'));
  }
  if (status.observedGeneration < 0)
    errors.push(invalid('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer'));
  errors.push(...validateImmutable(status.qosClass ?? '', before.qosClass ?? '', 'status.qosClass'));
  for (const field of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'])
    errors.push(...transitions(status[field], before[field], field, old.spec));
  for (const [index, claim] of list(status.resourceClaimStatuses).entries())
    if (!list(object.spec?.resourceClaims).some(({name}) => name === claim.name))
      errors.push(
        invalid(
          `status.resourceClaimStatuses[${index}].name`,
          claim.name ?? '',
          'must match the name of an entry in `spec.resourceClaims`',
        ),
      );
  errors.push(...addresses(status.podIPs, before.podIPs, 'podIPs'));
  if (status.hostIPs?.length) {
    if ((status.hostIP ?? '') !== status.hostIPs[0].ip)
      errors.push(invalid('status.hostIPs[0].ip', status.hostIPs[0].ip, 'must be equal to `hostIP`'));
    errors.push(...addresses(status.hostIPs, before.hostIPs, 'hostIPs'));
  }
  return errors;
}

function addresses(given: Part, before: Part, field: string): FieldError[] {
  const ips: string[] = list(given).map(({ip}) => ip ?? '');
  const stored: string[] = list(before).map(({ip}) => ip);
  const errors = ips.flatMap((ip, index) => legacyIp(ip, `status.${field}[${index}]`, stored));
  if (ips.length > 2 || (ips.length === 2 && ipFamily(ips[0]!) === ipFamily(ips[1]!)))
    errors.push(
      invalid(
        `status.${field}`,
        ips.map((ip) => ({IP: ip})),
        'may specify no more than one IP for each IP family',
      ),
    );
  return errors;
}

/** A container that has ended stays ended, unless the pod's policy would start it again. */
function transitions(after: Part, before: Part, field: string, spec: Part): FieldError[] {
  const ephemeral = field === 'ephemeralContainerStatuses';
  const containers: Part[] = list(spec?.[field === 'initContainerStatuses' ? 'initContainers' : 'containers']);
  return list(before).flatMap((old, index) => {
    const ended = old.state?.terminated;
    const now = list(after).find(({name}) => name === old.name);
    if (!ended || !now || now.state?.terminated) return [];
    const container = containers.find(({name}) => name === old.name);
    if (!ephemeral && mayRestart(container, spec, ended.exitCode ?? 0)) return [];
    return [fieldForbidden(`status.${field}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

function mayRestart(container: Part, spec: Part, exitCode: number): boolean {
  if (!container) return false;
  for (const {action, exitCodes} of list(container.restartPolicyRules)) {
    const listed = list(exitCodes?.values).includes(exitCode);
    if (exitCodes && (exitCodes.operator === 'In' ? listed : !listed)) return action === 'Restart' || action === 'RestartAllContainers';
  }
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
