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
  prepareForCreate: pairBlocks,
  prepareForUpdate(object, old, {subresource}) {
    pairBlocks(object);
    if (subresource === '') setOrDelete(object, 'status', old.status);
    // Left over from configuration through the API: only kept while someone uses it.
    if (subresource === 'status' && !old.status?.config && object.status?.config) delete object.status.config;
  },
  selectableFields: (object) => ({'spec.unschedulable': String(object.spec?.unschedulable ?? false)}),
});

/** The first address range is written and served by itself too. */
function pairBlocks({spec}: KubeObject): void {
  if (!spec) return;
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
}

function warnings({spec}: KubeObject): string[] {
  return [
    ...(spec?.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
  ];
}
