/**
 * What holds for the metadata of every object. Order and repetition of the errors are the reference's: on update it checks metadata once
 * for every kind and again for the kind, so that a client sees a cause twice; see kinds/index.ts, which puts the passes together.
 */
import {type FieldError, fieldForbidden, invalid, required, tooLong} from '../../field-errors.ts';
import {maxAnnotationsBytes} from '../../limits.ts';
import type {Json, ManagedFieldsEntry, ObjectMeta, OwnerReference} from '../../object.ts';
import type {NameRule} from '../strategy.ts';
import {sameJson} from './equal.ts';
import {validateLabels} from './labels.ts';
import {byteLength, dns1123Label, nameProblems, notNegative, qualifiedName} from './names.ts';

export interface MetadataRules {
  namespaced: boolean;
  name?: NameRule;
  /** Kinds of the generic machinery (Lease, webhook configurations, CRDs, custom resources) let finalizers without a domain pass. */
  plainFinalizers?: boolean;
}

/** Metadata of a new object, its name already generated. */
export function validateObjectMeta(meta: ObjectMeta, rules: MetadataRules, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName)
    for (const text of nameProblems(rules.name, meta.generateName, true))
      errors.push(invalid(`${path}.generateName`, meta.generateName, text));
  if (!meta.name) errors.push(required(`${path}.name`, 'name or generateName is required'));
  else for (const text of nameProblems(rules.name, meta.name)) errors.push(invalid(`${path}.name`, meta.name, text));
  if (rules.namespaced) {
    if (!meta.namespace) errors.push(required(`${path}.namespace`));
    else for (const text of dns1123Label(meta.namespace)) errors.push(invalid(`${path}.namespace`, meta.namespace, text));
  } else if (meta.namespace) errors.push(fieldForbidden(`${path}.namespace`, 'not allowed on this type'));
  if ((meta.generation ?? 0) < 0) errors.push(invalid(`${path}.generation`, meta.generation, notNegative));
  errors.push(
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    ...validateFinalizers(meta.finalizers, `${path}.finalizers`),
    ...validateManagedFields(meta.managedFields, `${path}.managedFields`),
  );
  if (!rules.plainFinalizers) errors.push(...kubeFinalizers(meta.finalizers, `${path}.finalizers`));
  return errors;
}

/** Metadata of an object that replaces another. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  rules: {plainFinalizers?: boolean} = {},
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) errors.push(...noNewFinalizers(meta.finalizers, old.finalizers, `${path}.finalizers`));
  if (!meta.resourceVersion) errors.push(invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalid(`${path}.generation`, meta.generation ?? 0, 'must not be decremented'));
  for (const field of ['name', 'namespace', 'uid'] as const)
    errors.push(...validateImmutable(meta[field] ?? '', old[field] ?? '', `${path}.${field}`));
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const)
    errors.push(...validateImmutable(meta[field], old[field], `${path}.${field}`));
  errors.push(
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    ...validateManagedFields(meta.managedFields, `${path}.managedFields`),
  );
  if (!rules.plainFinalizers) errors.push(...kubeFinalizers(meta.finalizers, `${path}.finalizers`));
  return errors;
}

export const immutable = 'field is immutable';

export const validateImmutable = (value: unknown, old: unknown, path: string): FieldError[] =>
  sameJson(value, old) ? [] : [invalid(path, value, immutable)];

/** Keys are label keys in any case; values are free, but all together are bounded. */
export function validateAnnotations(annotations: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const text of qualifiedName(key.toLowerCase())) errors.push(invalid(path, key, text));
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > maxAnnotationsBytes) errors.push(tooLong(path, maxAnnotationsBytes));
  return errors;
}

function validateOwnerReferences(references: OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references ?? []) {
    const version = reference.apiVersion ?? '';
    if (version === '' || version.endsWith('/')) errors.push(invalid(`${path}.apiVersion`, version, 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid'] as const)
      if (!reference[field]) errors.push(invalid(`${path}.${field}`, '', 'must not be empty'));
    if (version === 'v1' && reference.kind === 'Event')
      errors.push(invalid(path, ordered(reference), '/v1, Kind=Event is disallowed from being an owner'));
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller)
      errors.push(
        invalid(
          path,
          references!.map(ordered),
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
    else controller = name;
  }
  return errors;
}

/** A reference is printed with its fields in the order of its type. */
const ordered = (reference: OwnerReference): Record<string, Json> => ({
  apiVersion: reference.apiVersion,
  kind: reference.kind,
  name: reference.name,
  uid: reference.uid,
  ...(reference.controller !== undefined && {controller: reference.controller}),
  ...(reference.blockOwnerDeletion !== undefined && {blockOwnerDeletion: reference.blockOwnerDeletion}),
});

function validateFinalizers(finalizers: string[] | undefined, path: string): FieldError[] {
  const errors = (finalizers ?? []).flatMap((finalizer) => qualifiedName(finalizer).map((text) => invalid(path, finalizer, text)));
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  return errors;
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** A finalizer without a domain must be one of the server's own. */
export const kubeFinalizers = (finalizers: string[] | undefined, path: string): FieldError[] =>
  (finalizers ?? []).flatMap((finalizer, index) =>
    finalizer.includes('/') || standardFinalizers.has(finalizer)
      ? []
      : [invalid(`${path}[${index}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  );

function noNewFinalizers(finalizers: string[] = [], old: string[] = [], path: string): FieldError[] {
  const added = [...new Set(finalizers)].filter((finalizer) => !old.includes(finalizer)).sort();
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return added.length
    ? [fieldForbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`)]
    : [];
}

export function validateManagedFields(entries: ManagedFieldsEntry[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, entry] of (entries ?? []).entries()) {
    const at = `${path}[${index}]`;
    if (entry.operation !== 'Apply' && entry.operation !== 'Update')
      errors.push(invalid(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'));
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1')
      errors.push(invalid(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'));
    errors.push(...validateFieldManager(entry.manager ?? '', `${at}.manager`));
    if (byteLength(entry.subresource ?? '') > 256) errors.push(tooLong(`${at}.subresource`, 256));
  }
  return errors;
}

/** The name of a field manager: also a query parameter of every write. */
export function validateFieldManager(manager: string, path = 'fieldManager'): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(manager) > 128) errors.push(tooLong(path, 128));
  let position = 0;
  for (const character of manager) {
    if (!printable.test(character)) {
      const code = character.codePointAt(0)!;
      errors.push(
        invalid(path, manager, `invalid character U+${code.toString(16).toUpperCase().padStart(4, '0')} (at position ${position})`),
      );
    }
    position += byteLength(character);
  }
  return errors;
}

/** Go's notion: letters, marks, numbers, punctuation, symbols and the plain blank. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
