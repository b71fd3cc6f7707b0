/** Devices that a driver offers. */
import {goQuote} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {define} from '../define.ts';
import {validateResourceSlice, validateResourceSliceUpdate} from './resourceslice.validate.ts';

const warnings = ({spec}: KubeObject): string[] => {
  const driver: string = spec?.driver ?? '';
  return driver === driver.toLowerCase()
    ? []
    : [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`];
};

export const resourceSlice = define({
  validate: validateResourceSlice,
  validateUpdate: validateResourceSliceUpdate,
  generation: true,
  deleteReturnsObject: true,
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({spec}) => ({'spec.nodeName': spec?.nodeName ?? '', 'spec.driver': spec?.driver ?? ''}),
});
