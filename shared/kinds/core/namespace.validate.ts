/** Whether a namespace is well formed, and what its endpoints may change. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {qualified} from '../common/checks.ts';
import {list} from '../common/loose.ts';
import {kubeFinalizers} from '../common/metadata.ts';

function finalizers({spec}: KubeObject, path: (index: number) => string): FieldError[] {
  return list(spec?.finalizers).flatMap((name: string, index) => [
    ...qualified(name, path(index)),
    ...kubeFinalizers([name], path(index)).map((error) => ({...error, field: path(index)})),
  ]);
}

export const validateNamespace = (object: KubeObject): FieldError[] => finalizers(object, () => 'spec.finalizers');

export function validateNamespaceUpdate(object: KubeObject, _old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'finalize') return finalizers(object, (index) => `spec.finalizers[${index}]`);
  if (subresource !== 'status') return [];
  const phase: string = object.status?.phase ?? '';
  if (!object.metadata.deletionTimestamp)
    return phase === 'Active' ? [] : [invalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  return phase === 'Terminating' ? [] : [invalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}
