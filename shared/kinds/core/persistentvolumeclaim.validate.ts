/** Whether a claim is well formed. Once it is bound only its size and its attributes class may change. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {qualified} from '../common/checks.ts';
import {type ClaimOptions, claimSpec} from '../common/claims.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {nanos} from '../common/quantity.ts';
import {isNative} from '../common/resources.ts';

const betaClass = 'volume.beta.kubernetes.io/storage-class';

export const validatePersistentVolumeClaim = ({spec}: KubeObject): FieldError[] => claimSpec(spec, 'spec');

const leniency = (spec: Part): ClaimOptions => ({
  lenientValues: validateLabelSelector(spec?.selector, '').length > 0,
  lenientGroups: spec?.dataSource?.apiGroup !== undefined || spec?.dataSourceRef?.apiGroup !== undefined,
});

export function validatePersistentVolumeClaimUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return statusUpdate(object);
  const errors = claimSpec(object.spec, 'spec', leniency(old.spec));
  const given: Part = structuredClone(object.spec ?? {});
  const stored: Part = structuredClone(old.spec ?? {});
  if (!stored.volumeName && given.volumeName) stored.volumeName = given.volumeName;
  errors.push(...classUpdate(object, old, given, stored));
  const bound = object.status?.phase === 'Bound';
  if (bound && given.resources?.requests && stored.resources?.requests?.storage !== undefined)
    given.resources.requests.storage = stored.resources.requests.storage;
  if (bound) {
    if (stored.volumeAttributesClassName === undefined) delete given.volumeAttributesClassName;
    else given.volumeAttributesClassName = stored.volumeAttributesClassName;
  }
  if (!sameJson(given, stored))
    errors.push(
      fieldForbidden(
        'spec',
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${changes(stored, given)}`,
      ),
    );
  const [size, before] = [nanos(object.spec?.resources?.requests?.storage), nanos(old.spec?.resources?.requests?.storage)];
  if (size < before && size <= nanos(old.status?.capacity?.storage))
    errors.push(fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  if (object.spec?.volumeMode !== old.spec?.volumeMode) errors.push(invalid('volumeMode', object.spec?.volumeMode ?? null, immutable));
  const attributes = object.spec?.volumeAttributesClassName;
  if (attributes !== old.spec?.volumeAttributesClassName && old.status?.currentVolumeAttributesClassName !== undefined && !attributes)
    errors.push(
      fieldForbidden(
        'spec.volumeAttributesClassName',
        `update to ${attributes === '' ? 'empty string' : 'nil'} is forbidden when status.currentVolumeAttributesClassName is not nil`,
      ),
    );
  return errors;
}

/** A class may be named later where none was, and may move from its old annotation to its field. */
function classUpdate(object: KubeObject, old: KubeObject, given: Part, stored: Part): FieldError[] {
  const [before, after] = [old.metadata.annotations?.[betaClass], object.metadata.annotations?.[betaClass]];
  const unnamed = stored.storageClassName === undefined;
  const moves = before !== undefined && unnamed && given.storageClassName === before && (after === undefined || after === before);
  if (moves) {
    delete given.storageClassName;
    return [];
  }
  if (given.storageClassName !== undefined && unnamed && (before === undefined || given.storageClassName === before))
    delete given.storageClassName;
  return (before ?? '') === (after ?? '') ? [] : [invalid(`metadata.annotations.${betaClass}`, after ?? '', immutable)];
}

const changes = (old: Part, given: Part): string =>
  [...new Set([...Object.keys(old), ...Object.keys(given)])]
    .filter((field) => !sameJson(old[field], given[field], field))
    .map((field) => `- ${field}: ${JSON.stringify(old[field] ?? null)}\n+ ${field}: ${JSON.stringify(given[field] ?? null)}\n`)
    .join('');

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

function resourceKey(name: string, path: string): FieldError[] {
  const errors = qualified(name, path);
  if (errors.length || !isNative(name) || name === 'storage') return errors;
  return [notSupported(path, name, ['storage'])];
}

function statusUpdate({spec, status}: KubeObject): FieldError[] {
  const errors = list(spec?.accessModes).length ? [] : [required('Spec.accessModes')];
  const negative = (value: unknown, path: string): FieldError[] =>
    nanos(value) < 0n ? [invalid(path, Number(nanos(value) / 1_000_000_000n), 'must be a valid resource quantity')] : [];
  for (const [name, value] of entries(status?.capacity)) errors.push(...negative(value, `status.capacity[${name}]`));
  for (const [name, state] of entries(status?.allocatedResourceStatuses)) {
    const path = 'status.allocatedResourceStatuses';
    errors.push(...resourceKey(name, path));
    if (!resizeStates.includes(state)) errors.push(notSupported(path, name, resizeStates));
  }
  for (const [name, value] of entries(status?.allocatedResources)) {
    const wrong = resourceKey(name, 'status.allocatedResources');
    errors.push(...(wrong.length ? wrong : negative(value, `status.allocatedResources[${name}]`)));
  }
  return errors;
}
