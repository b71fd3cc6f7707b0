/** The storage drivers of a node. */
import {define} from '../define.ts';
import {validateCSINode, validateCSINodeUpdate} from './csinode.validate.ts';

export const csiNode = define({
  validate: validateCSINode,
  validateUpdate: validateCSINodeUpdate,
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
});
