/** A machine that runs pods. Its first status may come with its creation: agents register themselves so. */
import {define, setOrDelete} from '../define.ts';
import {validateNode, validateNodeUpdate} from './node.validate.ts';

export const node = define({
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  hasStatus: true,
  metadataOnUpdate: ['update', 'full'],
  prepareForUpdate(object, old, {subresource}) {
    if (subresource === '') setOrDelete(object, 'status', old.status);
    // Left over from configuration through the API: only kept while someone uses it.
    if (subresource === 'status' && !old.status?.config && object.status?.config) delete object.status.config;
  },
  selectableFields: (object) => ({'spec.unschedulable': String(object.spec?.unschedulable ?? false)}),
});
