/** Containers of all three sorts: those that run, those that run first, those that are added for a look around. */
import {duplicate, type FieldError, fieldForbidden, fieldNotFound, invalid, notSupported, required, tooMany} from '../../field-errors.ts';
import {label, need, oneOf, port, problems} from './checks.ts';
import {containerResourceField, objectField} from './field-refs.ts';
import {lifecycle, probes} from './handlers.ts';
import {list, type Part} from './loose.ts';
import {configMapKey, dns1123Subdomain, environmentName, portName} from './names.ts';
import {descendingPath, noBacksteps} from './paths.ts';
import {resourceRequirements} from './resources.ts';
import {containerSecurity} from './security.ts';

export interface ContainerContext {
  /** Volumes without an error, by name. */
  volumes: ReadonlyMap<string, Part>;
  claims: readonly string[];
  grace?: number;
  os?: string;
  podRestartPolicy: string;
  hostUsers: boolean;
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function ports(given: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, {name, containerPort, hostPort, protocol}] of list(given).entries()) {
    const at = `${path}[${index}]`;
    if (name) {
      const texts = portName(name);
      if (texts.length) errors.push(...problems(`${at}.name`, name, texts));
      else if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      else names.add(name);
    }
    errors.push(...(containerPort ? port(containerPort, `${at}.containerPort`) : [required(`${at}.containerPort`)]));
    if (hostPort) errors.push(...port(hostPort, `${at}.hostPort`));
    errors.push(...oneOf(protocol, protocols, `${at}.protocol`));
  }
  return errors;
}

const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const keySelector = ({name = '', key}: Part, path: string): FieldError[] => [
  ...problems(`${path}.name`, name, dns1123Subdomain(name)),
  ...(key ? problems(`${path}.key`, key, configMapKey(key)) : [required(`${path}.key`)]),
];

const fileKey = ({key, volumeName, path: file}: Part, path: string): FieldError[] => [
  ...(key ? problems(`${path}.key`, key, environmentName(key)) : [required(`${path}.key`)]),
  ...(volumeName ? label(volumeName, `${path}.volumeName`) : [required(`${path}.volumeName`)]),
  ...(file ? noBacksteps(file, `${path}.path`) : [required(`${path}.path`)]),
];

const valueSources: Record<string, (source: Part, path: string) => FieldError[]> = {
  fieldRef: (source, path) => objectField(source, environmentFields, path),
  resourceFieldRef: (source, path) => containerResourceField(source, path, false),
  configMapKeyRef: keySelector,
  secretKeyRef: keySelector,
  fileKeyRef: fileKey,
};

function environment(given: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, {name, value, valueFrom}] of list(given).entries()) {
    const at = `${path}[${index}]`;
    errors.push(...(name ? problems(`${at}.name`, name, environmentName(name)) : [required(`${at}.name`)]));
    if (!valueFrom) continue;
    const from = `${at}.valueFrom`;
    const sources = Object.keys(valueSources).filter((source) => valueFrom[source]);
    for (const source of sources) errors.push(...valueSources[source]!(valueFrom[source], `${from}.${source}`));
    if (!sources.length)
      errors.push(
        invalid(from, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'),
      );
    else if (value) errors.push(invalid(from, '', 'may not be specified when `value` is not empty'));
    else if (sources.length > 1) errors.push(invalid(from, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function environmentFrom(given: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, source] of list(given).entries()) {
    const at = `${path}[${index}]`;
    if (source.prefix) errors.push(...problems(`${at}.prefix`, source.prefix, environmentName(source.prefix)));
    const references = ['configMapRef', 'secretRef'].filter((name) => source[name]);
    for (const name of references) {
      const target: string = source[name].name ?? '';
      const masked = target.length > 1 && target.endsWith('-') ? `${target.slice(0, -2)}a` : target;
      errors.push(...(target ? problems(`${at}.${name}.name`, target, dns1123Subdomain(masked)) : [required(`${at}.${name}.name`)]));
    }
    if (!references.length) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (references.length > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function mounts(container: Part, path: string, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = [];
  const points = new Set<string>();
  const devices = list(container.volumeDevices);
  for (const [index, mount] of list(container.volumeMounts).entries()) {
    const {name = '', mountPath = '', subPath, subPathExpr, mountPropagation: propagation, recursiveReadOnly: recursive} = mount;
    const at = `${path}[${index}]`;
    if (!name) errors.push(required(`${at}.name`));
    if (!context.volumes.has(name)) errors.push(fieldNotFound(`${at}.name`, name));
    if (!mountPath) errors.push(required(`${at}.mountPath`));
    if (points.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    points.add(mountPath);
    if (devices.some((device) => device.name === name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devices.some((device) => device.devicePath === mountPath))
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    // The reference names the list, not the mount, for what follows.
    if (subPath) errors.push(...descendingPath(subPath, `${path}.subPath`));
    if (subPathExpr) {
      if (subPath) errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
      errors.push(...descendingPath(subPathExpr, `${path}.subPathExpr`));
    }
    if (propagation !== undefined) {
      const field = `${path}.mountPropagation`;
      errors.push(...oneOf(propagation, ['Bidirectional', 'HostToContainer', 'None'], field, true));
      if (propagation === 'Bidirectional' && !container.securityContext?.privileged)
        errors.push(fieldForbidden(field, 'Bidirectional mount propagation is available only to privileged containers'));
    }
    if (recursive === undefined || recursive === 'Disabled') continue;
    const field = `${path}.recursiveReadOnly`;
    if (recursive !== 'Enabled' && recursive !== 'IfPossible')
      errors.push(notSupported(field, recursive, ['Disabled', 'Enabled', 'IfPossible']));
    else {
      if (!mount.readOnly) errors.push(fieldForbidden(field, 'may only be specified when readOnly is true'));
      if (propagation !== undefined && propagation !== 'None')
        errors.push(fieldForbidden(field, 'may only be specified when mountPropagation is None or not specified'));
    }
  }
  return errors;
}

function blockDevices(container: Part, path: string, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = [];
  const paths = new Set<string>();
  const names = new Set<string>();
  const mounted = list(container.volumeMounts);
  for (const [index, {name = '', devicePath = ''}] of list(container.volumeDevices).entries()) {
    const at = `${path}[${index}]`;
    const volume = context.volumes.get(name);
    if (!name) errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(invalid(`${at}.name`, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'));
    if (!volume) errors.push(fieldNotFound(`${at}.name`, name));
    if (!devicePath) errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'));
    if (devicePath && noBacksteps(devicePath, '').length)
      errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mounted.some((mount) => mount.name === name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mounted.some((mount) => mount.mountPath === devicePath))
      errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    if (name) names.add(name);
  }
  return errors;
}

function resizePolicy(given: Part, path: string, podRestartPolicy: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, {resourceName = '', restartPolicy = ''}] of list(given).entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
    errors.push(...oneOf(resourceName, ['cpu', 'memory'], path), ...oneOf(restartPolicy, ['NotRequired', 'RestartContainer'], path));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
  }
  return errors;
}

function common(container: Part, path: string, context: ContainerContext): FieldError[] {
  return [
    ...(container.name ? label(container.name, `${path}.name`) : [required(`${path}.name`)]),
    ...need(container.image, `${path}.image`),
    ...oneOf(container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError'], `${path}.terminationMessagePolicy`),
    ...ports(container.ports, `${path}.ports`),
    ...environment(container.env, `${path}.env`),
    ...environmentFrom(container.envFrom, `${path}.envFrom`),
    ...mounts(container, `${path}.volumeMounts`, context),
    ...blockDevices(container, `${path}.volumeDevices`, context),
    ...oneOf(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], `${path}.imagePullPolicy`),
    ...resourceRequirements(container.resources, `${path}.resources`, {claims: context.claims}),
    ...resizePolicy(container.resizePolicy, `${path}.resizePolicy`, context.podRestartPolicy),
    ...containerSecurity(container.securityContext, `${path}.securityContext`, context.hostUsers),
  ];
}

function restartRules({restartPolicy, restartPolicyRules}: Part, path: string): FieldError[] {
  const rules = list(restartPolicyRules);
  const errors: FieldError[] = [];
  if (restartPolicy === undefined) {
    if (!rules.length) return errors;
    errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'));
  } else errors.push(...oneOf(restartPolicy, ['Always', 'Never', 'OnFailure'], `${path}.restartPolicy`, true));
  if (rules.length > 20) errors.push(tooMany(`${path}.restartPolicyRules`, rules.length, 20));
  for (const [index, {action = '', exitCodes}] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${index}]`;
    errors.push(...oneOf(action, ['Restart', 'RestartAllContainers'], `${at}.action`, true));
    if (!exitCodes) errors.push(required(`${at}.exitCodes`, 'must be specified'));
    else {
      errors.push(...oneOf(exitCodes.operator ?? '', ['In', 'NotIn'], `${at}.exitCodes.operator`, true));
      const count = list(exitCodes.values).length;
      if (count > 255) errors.push(tooMany(`${at}.exitCodes.values`, count, 255));
    }
  }
  return errors;
}

function hostPorts(containers: Part[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries())
    for (const [position, {protocol = '', hostIP = '', hostPort}] of list(container.ports).entries()) {
      if (!hostPort) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) errors.push(duplicate(`${path}[${index}].ports[${position}].hostPort`, key));
      taken.add(key);
    }
  return errors;
}

export function validateContainers(containers: Part[], path: string, context: ContainerContext): FieldError[] {
  if (!containers.length) return [required(path)];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...common(container, at, context));
    if (names.has(container.name ?? '')) errors.push(duplicate(`${at}.name`, container.name ?? ''));
    names.add(container.name ?? '');
    if (container.lifecycle) errors.push(...lifecycle(container.lifecycle, `${at}.lifecycle`, context));
    errors.push(...probes(container, at, context), ...restartRules(container, at));
  }
  return [...errors, ...hostPorts(containers, path)];
}

export function validateInitContainers(containers: Part[], regular: Part[], path: string, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>(regular.map(({name}) => name ?? ''));
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    const isSidecar = container.restartPolicy === 'Always';
    errors.push(...common(container, at, context), ...restartRules(container, at));
    if (names.has(container.name ?? '')) errors.push(duplicate(`${at}.name`, container.name ?? ''));
    else if (container.name) names.add(container.name);
    errors.push(...hostPorts([container], path));
    if (isSidecar) {
      if (container.lifecycle) errors.push(...lifecycle(container.lifecycle, `${at}.lifecycle`, context));
      errors.push(...probes(container, at, context));
    } else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'])
        if (container[field])
          errors.push(fieldForbidden(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always'));
      for (const [position, {restartPolicy}] of list(container.resizePolicy).entries())
        if (restartPolicy === 'RestartContainer')
          errors.push(
            invalid(
              `${at}.resizePolicy[${position}].restartPolicy`,
              restartPolicy,
              "must not be set to 'RestartContainer' for non-sidecar initContainers",
            ),
          );
    }
  }
  return errors;
}

/** In the order of the fields in the type, in which the reference finds them. */
const notForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

const isSet = (value: Part): boolean =>
  value !== undefined && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);

export function validateEphemeralContainers(containers: Part[], others: Part[], path: string, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = [];
  const otherNames = new Set<string>(others.map(({name}) => name ?? ''));
  const names = new Set(otherNames);
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...common(container, at, context), ...imageBlanks(container, at));
    if (names.has(container.name ?? '')) errors.push(duplicate(`${at}.name`, container.name ?? ''));
    names.add(container.name ?? '');
    if (container.targetContainerName && !otherNames.has(container.targetContainerName))
      errors.push(fieldNotFound(`${at}.targetContainerName`, container.targetContainerName));
    for (const field of notForEphemeral)
      if (isSet(container[field])) errors.push(fieldForbidden(`${at}.${field}`, 'cannot be set for an Ephemeral Container'));
    for (const [position, mount] of list(container.volumeMounts).entries())
      for (const field of ['subPath', 'subPathExpr'])
        if (mount[field])
          errors.push(fieldForbidden(`${at}.volumeMounts[${position}].${field}`, 'cannot be set for an Ephemeral Container'));
  }
  return errors;
}

/** Only for pods: templates may carry blanks around an image. */
export const imageBlanks = ({image = ''}: Part, path: string): FieldError[] =>
  image.trim() === image ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];
