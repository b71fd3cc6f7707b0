/** Whether a storage class is well formed. What volumes were made with stays. */
import {duplicate, type FieldError, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {oneOf} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabelName} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {validateParameters, validateProvisioner} from './parameters.validate.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

export const validateStorageClass = (object: KubeObject): FieldError[] => [
  ...validateProvisioner(object.provisioner, 'provisioner'),
  ...validateParameters(object.parameters, 'parameters', false),
  ...(object.reclaimPolicy ? oneOf(object.reclaimPolicy, reclaimPolicies, 'reclaimPolicy') : []),
  ...(object.volumeBindingMode === undefined
    ? [required('volumeBindingMode')]
    : oneOf(object.volumeBindingMode, bindingModes, 'volumeBindingMode', true)),
  ...validateTopologies(list(object.allowedTopologies)),
];

export const validateStorageClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateStorageClass(object),
  ...fixed.flatMap((field) => validateImmutable(object[field], old[field], field)),
];

function validateTopologies(terms: Part[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen: Record<string, string[]>[] = [];
  for (const [index, term] of terms.entries()) {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const values: Record<string, string[]> = {};
    for (const [at, requirement] of list(term.matchLabelExpressions).entries()) {
      const {key = ''} = requirement;
      errors.push(...validateRequirement(requirement, `${path}[${at}]`));
      if (key in values) errors.push(duplicate(`${path}[${at}].key`, key));
      values[key] = [...new Set<string>(list(requirement.values))].sort();
    }
    // The reference compares with as many empty terms as there are terms, and tells of each that is the same.
    const empty = Object.keys(values).length === 0 ? terms.length : 0;
    const same = empty + seen.filter((other) => sameJson(other, values)).length;
    for (let count = 0; count < same; count++) errors.push(duplicate(path, ''));
    seen.push(values);
  }
  return errors;
}

function validateRequirement({key = '', values: given}: Part, path: string): FieldError[] {
  const values: string[] = list(given);
  return [
    ...(values.length === 0 ? [required(`${path}.values`)] : []),
    ...values.flatMap((value, index) => (values.indexOf(value) < index ? [duplicate(`${path}.values[${index}]`, value)] : [])),
    ...validateLabelName(key, `${path}.key`),
  ];
}
