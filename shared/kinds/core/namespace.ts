/** A namespace: everything in it goes when it goes, held by its own finalizers in spec. */
import {define, setOrDelete} from '../define.ts';
import {validateNamespace, validateNamespaceUpdate} from './namespace.validate.ts';

export const namespace = define({
  validate: validateNamespace,
  validateUpdate: (object, old, {subresource}) => validateNamespaceUpdate(object, old, subresource),
  name: 'dns1123Label',
  deleteReturnsObject: true,
  newStatus: () => ({phase: 'Active'}),
  prepareForCreate(object) {
    // Defaulted before it is judged: a name that is no label value is named twice.
    if (object.metadata.name) object.metadata.labels = {...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name};
    const finalizers: string[] = object.spec?.finalizers ?? [];
    object.spec = {...object.spec, finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes']};
  },
  prepareForUpdate(object, old, {subresource}) {
    if (subresource === '') {
      object.spec = {...object.spec};
      setOrDelete(object.spec, 'finalizers', old.spec?.finalizers);
    }
    if (subresource === 'finalize') setOrDelete(object, 'status', old.status);
  },
  canonicalize(object) {
    object.metadata.labels = {...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name!};
  },
  selectableFields: (object) => ({'status.phase': object.status?.phase ?? '', name: object.metadata.name ?? ''}),
});
