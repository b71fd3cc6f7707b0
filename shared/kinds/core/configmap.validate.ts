/** Whether a config map is well formed: keys that can be file names, a bound on the whole, nothing changed once it is immutable. */
import {type FieldError, fieldForbidden, invalid, tooLong} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {entries, type Part} from '../common/loose.ts';
import {byteLength, configMapKey} from '../common/names.ts';

/** All values of a config map or secret together. */
export const maxDataBytes = 1024 * 1024;

/** Bytes behind base64 text. */
export const decodedBytes = (text: string): number => {
  const body = text.replaceAll(/[\r\n]/g, '');
  return Math.floor((body.length * 3) / 4) - (body.endsWith('==') ? 2 : body.endsWith('=') ? 1 : 0);
};

export function validateConfigMap({data, binaryData}: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  let total = 0;
  for (const [key, value] of entries(data)) {
    errors.push(...problems(`data[${key}]`, key, configMapKey(key)));
    if (binaryData && Object.hasOwn(binaryData, key)) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    total += byteLength(value ?? '');
  }
  for (const [key, value] of entries(binaryData)) {
    errors.push(...problems(`binaryData[${key}]`, key, configMapKey(key)));
    total += decodedBytes(value ?? '');
  }
  // The reference's path of the whole object.
  if (total > maxDataBytes) errors.push(tooLong('[]', maxDataBytes));
  return errors;
}

/** Once `immutable` is set it stays, and so do these fields. */
export function keptImmutable(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (!old.immutable) return [];
  const words = 'field is immutable when `immutable` is set';
  const changed = (field: string): boolean => !sameJson(object[field] as Part, old[field] as Part, field);
  return [
    ...(object.immutable ? [] : [fieldForbidden('immutable', words)]),
    ...fields.filter(changed).map((field) => fieldForbidden(field, words)),
  ];
}

export const validateConfigMapUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...keptImmutable(object, old, ['data', 'binaryData']),
  ...validateConfigMap(object),
];
