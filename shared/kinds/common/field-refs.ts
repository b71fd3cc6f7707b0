/** References to fields of the pod itself: the downward API of environment variables and volumes. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import {qualified} from './checks.ts';
import type {Part} from './loose.ts';

const convertible = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** `metadata.labels['app']` into path and subscript. */
const subscripted = /^(.+?)\['(.*)'\]$/s;

function conversionProblem(version: string, path: string): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`;
  const match = subscripted.exec(path);
  if (match) {
    const name = match[1]!;
    return name === 'metadata.annotations' || name === 'metadata.labels' ? undefined : `field label does not support subscript: ${path}`;
  }
  return convertible.has(path) || path === 'spec.host' ? undefined : `field label not supported: ${path}`;
}

export function objectField({apiVersion = '', fieldPath = ''}: Part, supported: readonly string[], path: string): FieldError[] {
  if (!apiVersion) return [required(`${path}.apiVersion`)];
  if (!fieldPath) return [required(`${path}.fieldPath`)];
  const problem = conversionProblem(apiVersion, fieldPath);
  if (problem) return [invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`)];
  const match = subscripted.exec(fieldPath);
  if (match) {
    const [, name, subscript] = match;
    return qualified(name === 'metadata.annotations' ? subscript!.toLowerCase() : subscript!, path);
  }
  const converted = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  return supported.includes(converted) ? [] : [notSupported(`${path}.fieldPath`, converted, supported)];
}

const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const sizes = ['1', ...'kMGTPE'.split('').map((unit) => `1${unit}`), ...'KMGTPE'.split('').map((unit) => `1${unit}i`)];

export function containerResourceField(reference: Part, path: string, inVolume: boolean): FieldError[] {
  const {containerName = '', resource = '', divisor} = reference;
  const isHugePages = /^(requests|limits)\.hugepages-/.test(resource);
  const errors: FieldError[] = [];
  if (inVolume && !containerName) errors.push(required(`${path}.containerName`));
  else if (!resource) errors.push(required(`${path}.resource`));
  else if (!resources.includes(resource) && !isHugePages) errors.push(notSupported(`${path}.resource`, resource, resources));
  if (divisor === undefined || divisor === '0') return errors;
  const at = `${path}.divisor`;
  const kind = isHugePages ? 'hugepages' : resource.split('.')[1];
  if (kind === 'cpu' && !['1m', '1'].includes(divisor))
    errors.push(invalid(at, resource, "only divisor's values 1m and 1 are supported with the cpu resource"));
  const name = {memory: 'memory', 'ephemeral-storage': 'local ephemeral storage', hugepages: 'hugepages'}[kind as string];
  if (name && !sizes.includes(divisor))
    errors.push(invalid(at, resource, `only divisor's values ${sizes.join(', ')} are supported with the ${name} resource`));
  return errors;
}
