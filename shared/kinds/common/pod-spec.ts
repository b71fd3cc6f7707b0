/** What a pod may say, as an object or as a template; the parts are in the files around this one. */
import {duplicate, type FieldError, fieldForbidden, fieldNotFound, invalid, required, tooLong} from '../../field-errors.ts';
import type {ObjectMeta} from '../../object.ts';
import {among, label, legacyIp, oneOf, problems, qualified, subdomain} from './checks.ts';
import {type ContainerContext, imageBlanks, validateContainers, validateEphemeralContainers, validateInitContainers} from './containers.ts';
import {validateLabels} from './labels.ts';
import {type Located, list, type Part} from './loose.ts';
import {validateAnnotations} from './metadata.ts';
import {byteLength, dns1123Subdomain, dns1123SubdomainWithUnderscore, inRange} from './names.ts';
import {podAnnotations, profilesAgree} from './pod-annotations.ts';
import {podLevelResources} from './pod-resources.ts';
import {resourceRequirements} from './resources.ts';
import {affinity, spreadConstraints, tolerations} from './scheduling.ts';
import {forOperatingSystem, hostProcess, podSecurity} from './security.ts';
import {validateVolumes} from './volumes.ts';

export interface PodSpecOptions {
  /** Of the pod itself; absent for templates. */
  meta?: ObjectMeta;
  isPod?: boolean;
  lenientValues?: boolean;
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** All containers with their paths: first those that run first. */
export const allContainers = (spec: Part, path: string): Located[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    list(spec?.[field]).map((container, index) => [`${path}.${field}[${index}]`, container] as const),
  );

export function podSpec(given: Part, path: string, options: PodSpecOptions = {}): FieldError[] {
  const spec = given ?? {};
  const {meta} = options;
  const errors: FieldError[] = [];
  const grace: number | undefined = spec.terminationGracePeriodSeconds;
  if (grace === undefined) errors.push(required(`${path}.terminationGracePeriodSeconds`));
  const [volumeErrors, volumes] = validateVolumes(spec.volumes, `${path}.volumes`, {isPod: options.isPod === true, ...(meta && {meta})});
  const claims = list(spec.resourceClaims);
  const context: ContainerContext = {
    volumes,
    claims: claims.map(({name}) => name).filter(Boolean),
    podRestartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
    ...(grace !== undefined && {grace}),
    ...(spec.os?.name && {os: spec.os.name}),
  };
  const containers = list(spec.containers);
  const initContainers = list(spec.initContainers);
  const everyone = allContainers(spec, path);
  errors.push(
    ...volumeErrors,
    ...resourceClaims(claims, `${path}.resourceClaims`, meta),
    ...validateContainers(containers, `${path}.containers`, context),
    ...validateInitContainers(initContainers, containers, `${path}.initContainers`, context),
    ...validateEphemeralContainers(
      list(spec.ephemeralContainers),
      [...containers, ...initContainers],
      `${path}.ephemeralContainers`,
      context,
    ),
    ...podLevelResources(spec, `${path}.resources`, path),
    ...hostNetworkPorts(spec, path, options.isPod === true),
    ...oneOf(spec.restartPolicy, restartPolicies, `${path}.restartPolicy`),
    ...oneOf(spec.dnsPolicy, dnsPolicies, `${path}.dnsPolicy`),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...podSecurity(spec, `${path}.securityContext`),
    ...affinity(spec.affinity, `${path}.affinity`, options),
    ...dnsConfig(spec, `${path}.dnsConfig`),
    ...list(spec.readinessGates).flatMap((gate, index) =>
      qualified(gate.conditionType ?? '', `${path}.readinessGates[${index}].conditionType`),
    ),
    ...schedulingGates(spec.schedulingGates, `${path}.schedulingGates`),
    ...spreadConstraints(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, options),
    ...hostProcess(spec, everyone, path),
    ...userNamespace(spec, everyone, path),
    ...hostnameOverride(spec, `${path}.hostnameOverride`),
    ...names(spec, path),
    ...(spec.overhead ? resourceRequirements({limits: spec.overhead}, `${path}.overhead`) : []),
    ...operatingSystem(spec, everyone, path),
    ...fileKeyVolumes(spec, everyone),
  );
  return errors;
}

function names(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.serviceAccountName) errors.push(...subdomain(spec.serviceAccountName, `${path}.serviceAccountName`));
  if (spec.nodeName) errors.push(...subdomain(spec.nodeName, `${path}.nodeName`));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647))
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, inRange(1, 2147483647)));
  if (spec.hostname) errors.push(...label(spec.hostname, `${path}.hostname`));
  if (spec.subdomain) errors.push(...label(spec.subdomain, `${path}.subdomain`));
  errors.push(...tolerations(spec.tolerations, `${path}.tolerations`));
  for (const [index, alias] of list(spec.hostAliases).entries()) {
    const at = `${path}.hostAliases[${index}]`;
    errors.push(...legacyIp(alias.ip ?? '', `${at}.ip`));
    for (const [position, name] of list(alias.hostnames).entries()) errors.push(...subdomain(name, `${at}.hostnames[${position}]`));
  }
  if (spec.priorityClassName) errors.push(...subdomain(spec.priorityClassName, `${path}.priorityClassName`));
  if (spec.runtimeClassName !== undefined) errors.push(...subdomain(spec.runtimeClassName, `${path}.runtimeClassName`));
  if (spec.preemptionPolicy !== undefined)
    errors.push(...oneOf(spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], `${path}.preemptionPolicy`));
  return errors;
}

function resourceClaims(claims: Part[], path: string, meta?: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (meta?.annotations?.['kubernetes.io/config.mirror'] !== undefined) {
      errors.push(fieldForbidden('', 'static pods do not support resource claims'));
      continue;
    }
    const at = `${path}[${index}]`;
    const {name, resourceClaimName: own, resourceClaimTemplateName: template} = claim;
    if (!name) errors.push(required(`${at}.name`));
    else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    else errors.push(...label(name, `${at}.name`));
    seen.add(name);
    const shown = {Name: name ?? '', ResourceClaimName: own ?? null, ResourceClaimTemplateName: template ?? null};
    if (own !== undefined && template !== undefined)
      errors.push(invalid(at, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'));
    if (own === undefined && template === undefined)
      errors.push(invalid(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    if (own !== undefined) errors.push(...problems(`${at}.resourceClaimName`, own, dns1123Subdomain(own)));
    if (template !== undefined) errors.push(...problems(`${at}.resourceClaimTemplateName`, template, dns1123Subdomain(template)));
  }
  return errors;
}

function hostNetworkPorts(spec: Part, path: string, isPod: boolean): FieldError[] {
  if (!spec.hostNetwork) return [];
  return list(spec.containers).flatMap((container, index) =>
    list(container.ports).flatMap(({hostPort = 0, containerPort = 0}, position) =>
      (isPod || hostPort) && hostPort !== containerPort
        ? [
            invalid(
              `${path}.containers[${index}].ports[${position}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
        : [],
    ),
  );
}

function dnsConfig({dnsConfig: config, dnsPolicy}: Part, path: string): FieldError[] {
  if (dnsPolicy === 'None') {
    if (!config) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (!config.nameservers?.length)
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  if (!config) return [];
  const errors: FieldError[] = [];
  const servers: string[] = list(config.nameservers);
  const searches: string[] = list(config.searches);
  if (servers.length > 3) errors.push(invalid(`${path}.nameservers`, servers, 'must not have more than 3 nameservers'));
  for (const [index, server] of servers.entries()) errors.push(...legacyIp(server, `${path}.nameservers[${index}]`));
  if (searches.length > 32) errors.push(invalid(`${path}.searches`, searches, 'must not have more than 32 search paths'));
  if (byteLength(searches.join(' ')) > 2048)
    errors.push(invalid(`${path}.searches`, searches, 'must not have more than 2048 characters (including spaces) in the search list'));
  for (const [index, search] of searches.entries()) {
    const name = search.replace(/\.$/, '');
    if (search !== '.') errors.push(...problems(`${path}.searches[${index}]`, name, dns1123SubdomainWithUnderscore(name)));
  }
  for (const [index, option] of list(config.options).entries())
    if (!option.name) errors.push(required(`${path}.options[${index}]`, 'must not be empty'));
  return errors;
}

function schedulingGates(gates: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, {name = ''}] of list(gates).entries()) {
    errors.push(...qualified(name, `${path}[${index}]`));
    if (seen.has(name)) errors.push(duplicate(`${path}[${index}]`, name));
    seen.add(name);
  }
  return errors;
}

function userNamespace(spec: Part, containers: Located[], path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const words = 'when `hostUsers` is false';
  return [
    ...(spec.hostNetwork ? [fieldForbidden(`${path}.hostNetwork`, words)] : []),
    ...(spec.hostPID ? [fieldForbidden(`${path}.HostPID`, words)] : []),
    ...(spec.hostIPC ? [fieldForbidden(`${path}.HostIPC`, words)] : []),
    ...containers.flatMap(([at, {volumeDevices}]) => (volumeDevices?.length ? [fieldForbidden(`${at}.volumeDevices`, words)] : [])),
  ];
}

function hostnameOverride(spec: Part, path: string): FieldError[] {
  const name = spec.hostnameOverride;
  if (name === undefined) return [];
  return [
    ...(spec.setHostnameAsFQDN ? [fieldForbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(spec.hostNetwork ? [fieldForbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(byteLength(name) > 64 ? [tooLong(path, 64)] : []),
    ...subdomain(name, path),
  ];
}

function operatingSystem(spec: Part, containers: Located[], path: string): FieldError[] {
  if (!spec.os) return [];
  const name = spec.os.name;
  if (!name) return [required(`${path}.os.name`)];
  const errors = among(name, ['linux', 'windows'], `${path}.os`);
  return errors.length ? errors : forOperatingSystem(spec, containers, path);
}

function fileKeyVolumes(spec: Part, containers: Located[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [path, container] of containers)
    for (const [index, variable] of list(container.env).entries()) {
      const reference = variable.valueFrom?.fileKeyRef;
      if (!reference) continue;
      const at = `${path}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const name = reference.volumeName ?? '';
      const volume = list(spec.volumes).find((candidate) => (candidate.name ?? '') === name);
      if (!volume) errors.push(fieldNotFound(at, name));
      else if (!volume.emptyDir) errors.push(invalid(at, name, 'referenced volume must be of type emptyDir'));
    }
  return errors;
}

/** A pattern for pods: metadata, which is checked with other paths than an object's, and spec. */
export function podTemplate(template: Part, path: string, options: PodSpecOptions = {}): FieldError[] {
  const meta: ObjectMeta = template?.metadata ?? {};
  const spec = template?.spec ?? {};
  return [
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...podAnnotations(meta.annotations, spec, `${path}.annotations`),
    ...podSpec(spec, `${path}.spec`, options),
    ...profilesAgree(meta, spec, `${path}.spec`),
    ...(spec.ephemeralContainers?.length
      ? [fieldForbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}

/** Metadata aside, what holds for a pod that is an object, on create and on update alike. */
export function podBody(meta: ObjectMeta, spec: Part, options: PodSpecOptions = {}): FieldError[] {
  const errors = [
    ...podAnnotations(meta.annotations, spec ?? {}, 'metadata.annotations'),
    ...podSpec(spec, 'spec', {...options, meta, isPod: true}),
  ];
  if (!spec?.serviceAccountName)
    for (const [index, volume] of list(spec?.volumes).entries())
      for (const [position, source] of list(volume.projected?.sources).entries())
        if (source.serviceAccountToken)
          errors.push(
            fieldForbidden(
              `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          );
  for (const field of ['containers', 'initContainers'])
    for (const [index, container] of list(spec?.[field]).entries()) errors.push(...imageBlanks(container, `spec.${field}[${index}]`));
  return errors;
}
