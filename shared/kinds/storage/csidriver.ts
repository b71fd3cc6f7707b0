/** A storage driver and what it supports. */
import {define} from '../define.ts';
import {validateCSIDriver, validateCSIDriverUpdate} from './csidriver.validate.ts';

export const csiDriver = define({
  validate: validateCSIDriver,
  validateUpdate: validateCSIDriverUpdate,
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
});
