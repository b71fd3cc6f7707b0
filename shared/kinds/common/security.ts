/** Security contexts of pods and containers. */
import {duplicate, type FieldError, fieldForbidden, invalid, notSupported, required, tooLong} from '../../field-errors.ts';
import {among, problems} from './checks.ts';
import {type Located, list, type Part} from './loose.ts';
import {byteLength, dns1123Subdomain, validId} from './names.ts';
import {descendingPath} from './paths.ts';

const id = (value: number | undefined, path: string): FieldError[] => (value === undefined ? [] : problems(path, value, validId(value)));

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

export function seccompProfile(profile: Part, path: string): FieldError[] {
  if (!profile) return [];
  const {type, localhostProfile} = profile;
  const errors: FieldError[] = [];
  if (!type) errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'));
  else if (!profileTypes.includes(type)) errors.push(notSupported(`${path}.type`, type, profileTypes));
  const at = `${path}.localhostProfile`;
  if (type === 'Localhost') {
    if (localhostProfile === undefined) errors.push(required(at, 'must be set when seccomp type is Localhost'));
    else errors.push(...descendingPath(localhostProfile, at));
  } else if (localhostProfile !== undefined)
    errors.push(invalid(at, {Type: type ?? '', LocalhostProfile: localhostProfile}, 'can only be set when seccomp type is Localhost'));
  return errors;
}

export function appArmorProfile(profile: Part, path: string): FieldError[] {
  if (!profile) return [];
  const {type, localhostProfile} = profile;
  const at = `${path}.localhostProfile`;
  if (!type) return [required(`${path}.type`, 'type is required when appArmorProfile is set')];
  if (!profileTypes.includes(type)) return [notSupported(`${path}.type`, type, profileTypes)];
  if (type !== 'Localhost')
    return localhostProfile === undefined ? [] : [invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost')];
  if (localhostProfile === undefined) return [required(at, 'must be set when AppArmor type is Localhost')];
  const errors: FieldError[] = [];
  if (localhostProfile.trim() !== localhostProfile) errors.push(invalid(at, localhostProfile, 'must not be padded with whitespace'));
  else if (localhostProfile === '') errors.push(required(at, 'must be set when AppArmor type is Localhost'));
  if (byteLength(localhostProfile) > 4095) errors.push(tooLong(at, 4095));
  return errors;
}

function windowsOptions(options: Part, path: string): FieldError[] {
  if (!options) return [];
  const errors: FieldError[] = [];
  const {gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName: name} = options;
  if (specName !== undefined) errors.push(...problems(`${path}.gmsaCredentialSpecName`, specName, dns1123Subdomain(specName)));
  if (spec === '') errors.push(invalid(`${path}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec cannot be an empty string'));
  else if (spec !== undefined && byteLength(spec) > 64 * 1024)
    errors.push(invalid(`${path}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec size must be under 64 KiB'));
  if (name !== undefined) errors.push(...problems(`${path}.runAsUserName`, name, windowsUserProblems(name)));
  return errors;
}

function windowsUserProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : '';
  const texts: string[] = [];
  if (byteLength(domain) >= 256) texts.push("runAsUserName's Domain length must be under 256 characters");
  const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
  const dns = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
  if (parts.length === 2 && !netBios.test(domain) && !dns.test(domain))
    texts.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === '') texts.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > 104) texts.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) texts.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) texts.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return texts;
}

/** A container's context as the reference prints it when it is bad as a whole: the fields of its own representation. */
const printed = (context: Part): Part => ({
  Capabilities: context.capabilities ? {Add: context.capabilities.add ?? null, Drop: context.capabilities.drop ?? null} : null,
  Privileged: context.privileged ?? null,
  SELinuxOptions: context.seLinuxOptions ?? null,
  WindowsOptions: context.windowsOptions ?? null,
  RunAsUser: context.runAsUser ?? null,
  RunAsGroup: context.runAsGroup ?? null,
  RunAsNonRoot: context.runAsNonRoot ?? null,
  ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
  AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
  ProcMount: context.procMount ?? null,
  SeccompProfile: context.seccompProfile ?? null,
  AppArmorProfile: context.appArmorProfile ?? null,
});

export function containerSecurity(context: Part, path: string, hostUsers: boolean): FieldError[] {
  if (!context) return [];
  const errors = [...id(context.runAsUser, `${path}.runAsUser`), ...id(context.runAsGroup, `${path}.runAsGroup`)];
  const mount = context.procMount;
  if (mount !== undefined) {
    errors.push(...among(mount, ['Default', 'Unmasked'], `${path}.procMount`));
    if (hostUsers && mount === 'Unmasked') errors.push(invalid(`${path}.procMount`, mount, '`hostUsers` must be false to use `Unmasked`'));
  }
  errors.push(...seccompProfile(context.seccompProfile, `${path}.seccompProfile`));
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged)
      errors.push(invalid(path, printed(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    for (const capability of list(context.capabilities?.add))
      if (capability === 'CAP_SYS_ADMIN')
        errors.push(invalid(path, printed(context), 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'));
  }
  errors.push(
    ...windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...appArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
  );
  return errors;
}

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlPattern = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const sysctlExpression = new RegExp(sysctlPattern);

function sysctls(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, {name = ''}] of list(spec.securityContext.sysctls).entries()) {
    const at = `${path}[${index}].name`;
    if (!name) errors.push(required(at));
    else if (byteLength(name) > 253 || !sysctlExpression.test(name))
      errors.push(invalid(at, name, `must have at most 253 characters and match regex ${sysctlPattern}`));
    else if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    const dotted = name.replaceAll('/', '.');
    if (spec.hostNetwork && dotted.startsWith('net.')) errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
    else if (spec.hostIPC && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(dotted))
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"));
  }
  return errors;
}

/** The pod's own context; what concerns the host's namespaces stands in its spec, and is reported as if it stood here. */
export function podSecurity(spec: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const context = spec.securityContext ?? {};
  errors.push(
    ...id(context.fsGroup, `${path}.fsGroup`),
    ...id(context.runAsUser, `${path}.runAsUser`),
    ...id(context.runAsGroup, `${path}.runAsGroup`),
    ...list(context.supplementalGroups).flatMap((group, index) => id(group, `${path}.supplementalGroups[${index}]`)),
  );
  if (spec.shareProcessNamespace && spec.hostPID)
    errors.push(invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  if (context.sysctls?.length) errors.push(...sysctls(spec, `${path}.sysctls`));
  if (context.fsGroupChangePolicy !== undefined)
    errors.push(...among(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`));
  errors.push(
    ...seccompProfile(context.seccompProfile, `${path}.seccompProfile`),
    ...windowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...appArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`),
  );
  if (context.supplementalGroupsPolicy !== undefined)
    errors.push(...among(context.supplementalGroupsPolicy, ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`));
  if (context.seLinuxChangePolicy !== undefined)
    errors.push(...among(context.seLinuxChangePolicy, ['MountOption', 'Recursive'], `${path}.seLinuxChangePolicy`));
  return errors;
}

const podFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
];
const containerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

/** What a pod that names its operating system may not ask of it. */
export function forOperatingSystem(spec: Part, containers: readonly Located[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const context = spec.securityContext ?? {};
  if (spec.os?.name === 'linux') {
    const words = 'windows options cannot be set for a linux pod';
    if (context.windowsOptions) errors.push(fieldForbidden(`${path}.securityContext.windowsOptions`, words));
    for (const [at, container] of containers)
      if (container.securityContext?.windowsOptions) errors.push(fieldForbidden(`${at}.securityContext.windowsOptions`, words));
    return errors;
  }
  const words = 'cannot be set for a windows pod';
  const isSet = (value: Part): boolean => value !== undefined && value !== null;
  const host = (field: string): void => {
    if (spec[field]) errors.push(fieldForbidden(`${path}.${field}`, words));
  };
  for (const field of podFields.slice(0, 2))
    if (isSet(context[field])) errors.push(fieldForbidden(`${path}.securityContext.${field}`, words));
  if (isSet(spec.hostUsers)) errors.push(fieldForbidden(`${path}.hostUsers`, words));
  host('hostPID');
  host('hostIPC');
  for (const field of podFields.slice(2)) {
    if (field === 'runAsUser' && isSet(spec.shareProcessNamespace)) errors.push(fieldForbidden(`${path}.shareProcessNamespace`, words));
    if (isSet(context[field]) && (field !== 'sysctls' || context[field].length))
      errors.push(fieldForbidden(`${path}.securityContext.${field}`, words));
  }
  for (const [at, container] of containers)
    for (const field of containerFields)
      if (isSet(container.securityContext?.[field])) errors.push(fieldForbidden(`${at}.securityContext.${field}`, words));
  return errors;
}

/** Windows processes on the host: all containers of a pod or none. */
export function hostProcess(spec: Part, containers: readonly Located[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  for (const [at, container] of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own)
      errors.push(
        invalid(
          `${at}.securityContext.windowsOptions.hostProcess`,
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        ),
      );
    if (own ?? ofPod) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length)
    errors.push(invalid(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  if (!spec.hostNetwork)
    errors.push(invalid(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'));
  return errors;
}
