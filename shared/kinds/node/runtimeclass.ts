/** A container runtime that pods can ask for. */
import type {KubeObject} from '../../object.ts';
import {entries} from '../common/loose.ts';
import {labelKeyWarning} from '../common/node-label-warnings.ts';
import {define} from '../define.ts';
import {validateRuntimeClass, validateRuntimeClassUpdate} from './runtimeclass.validate.ts';

export const runtimeClass = define({
  validate: validateRuntimeClass,
  validateUpdate: validateRuntimeClassUpdate,
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  metadataOnUpdate: ['update', 'full'],
});

function warnings({scheduling}: KubeObject): string[] {
  return entries(scheduling?.nodeSelector).flatMap(([key]) => labelKeyWarning(key).map((words) => `scheduling.nodeSelector: ${words}`));
}
