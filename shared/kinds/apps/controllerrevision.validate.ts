/** Whether a controller's snapshot is well formed: it holds an object, which stays. */
import {type FieldError, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {validateImmutable} from '../common/metadata.ts';

const revision = (object: KubeObject): FieldError[] => nonNegative(object.revision, 'revision');

export function validateControllerRevision(object: KubeObject): FieldError[] {
  const {data} = object;
  if (data === undefined || data === null) return [...revision(object), required('data', 'data is mandatory')];
  if (typeof data !== 'object' || Array.isArray(data)) return [...revision(object), required('data', 'data must be a valid JSON object')];
  return revision(object);
}

export const validateControllerRevisionUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...revision(object),
  ...validateImmutable(object.data, old.data, 'data'),
];
