/** Whether a runtime class is well formed. Its handler stays. */
import {duplicate, type FieldError, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label} from '../common/checks.ts';
import {validateLabels} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {resourceRequirements} from '../common/resources.ts';
import {tolerations} from '../common/scheduling.ts';

export const validateRuntimeClass = ({handler, overhead, scheduling}: KubeObject): FieldError[] => [
  ...(handler ? label(handler, 'handler') : [required('handler')]),
  ...(overhead ? resourceRequirements({limits: overhead.podFixed}, 'overhead') : []),
  ...(scheduling ? validateScheduling(scheduling) : []),
];

export const validateRuntimeClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateRuntimeClass(object),
  ...validateImmutable(object.handler ?? '', old.handler ?? '', 'handler'),
];

function validateScheduling({nodeSelector, tolerations: given}: Part): FieldError[] {
  const errors = [...validateLabels(nodeSelector, 'scheduling.nodeSelector'), ...tolerations(given, 'scheduling.tolerations')];
  const seen = new Set<string>();
  for (const [index, {key = '', operator = '', value = '', effect = '', tolerationSeconds}] of list(given).entries()) {
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) {
      const shown = {Key: key, Operator: operator, Value: value, Effect: effect, TolerationSeconds: tolerationSeconds ?? null};
      errors.push(duplicate(`scheduling.tolerations[${index}]`, shown));
    }
    seen.add(identity);
  }
  return errors;
}
