/** A namespace: everything in it goes when it goes, held by its own finalizers in spec. */
import type {KubeObject} from '../../object.ts';
import {define, setOrDelete} from '../define.ts';
import {validateNamespace, validateNamespaceUpdate} from './namespace.validate.ts';

export const namespace = define({
  validate: validateNamespace,
  validateUpdate: (object, old, {subresource}) => validateNamespaceUpdate(object, old, subresource),
  name: 'dns1123Label',
  deleteReturnsObject: true,
  newStatus: () => ({phase: 'Active'}),
  prepareForCreate(object) {
    labelName(object);
    const finalizers: string[] = object.spec?.finalizers ?? [];
    object.spec = {...object.spec, finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes']};
  },
  prepareForUpdate(object, old, {subresource}) {
    labelName(object);
    if (subresource === '') {
      object.spec = {...object.spec};
      setOrDelete(object.spec, 'finalizers', old.spec?.finalizers);
    }
    if (subresource === 'finalize') setOrDelete(object, 'status', old.status);
  },
  canonicalize: labelName,
  selectableFields: (object) => ({'status.phase': object.status?.phase ?? '', name: object.metadata.name ?? ''}),
});

/** Labelled before it is judged: a name that is no label value is named twice. */
function labelName({metadata}: KubeObject): void {
  if (metadata.name) metadata.labels = {...metadata.labels, 'kubernetes.io/metadata.name': metadata.name};
}
