/** Whether a device class is well formed, but for the CEL of its selectors. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import {isExtended} from '../common/resources.ts';
import {validateList} from './collections.validate.ts';
import {maxConfigurations, validateConfiguration, validateSelectors} from './configuration.validate.ts';

export const validateDeviceClass = (object: KubeObject): FieldError[] => validate(object);
export const validateDeviceClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => validate(object, old);

function validate({spec: given}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const isKept = old !== undefined && sameJson(spec.config, old.spec?.config);
  const name = spec.extendedResourceName;
  return [
    ...validateSelectors(spec.selectors, 'spec.selectors'),
    ...validateList(spec.config, maxConfigurations, 'spec.config', (config, path) => validateConfiguration(config, path, isKept)),
    ...(name !== undefined && !isExtended(name)
      ? [invalid('spec.extendedResourceName', name, 'must be a valid extended resource name')]
      : []),
  ];
}
