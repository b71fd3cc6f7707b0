/** A machine that runs pods. Its first status may come with its creation: agents register themselves so. */
import type {KubeObject} from '../../object.ts';
import {define, setOrDelete} from '../define.ts';
import {validateNode, validateNodeUpdate} from './node.validate.ts';

export const node = define({
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
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

function warnings({spec}: KubeObject): string[] {
  return [
    ...(spec?.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
  ];
}
