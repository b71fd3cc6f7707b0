/** Whether a mutating policy is well formed, but for its CEL. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {list, type Part} from '../common/loose.ts';
import {validateConditions, validateFailurePolicyAndParams, validateMatchConstraints, validateVariables} from './policies.validate.ts';
import {validateMutableOperations} from './rules.validate.ts';

const reinvocationPolicies = ['IfNeeded', 'Never'];
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];

export const validateMutatingAdmissionPolicy = (object: KubeObject): FieldError[] => validate(object);
export const validateMutatingAdmissionPolicyUpdate = (object: KubeObject, old: KubeObject): FieldError[] => validate(object, old);

function validate({spec: given}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const mutations = list(spec.mutations);
  const errors = [
    ...validateFailurePolicyAndParams(spec),
    ...validateMatchConstraints(spec),
    ...validateMutableOperations(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateConditions(spec, old?.spec),
    ...validateVariables(spec),
    ...mutations.flatMap((mutation, index) => validateMutation(mutation, `spec.mutations[${index}]`)),
  ];
  if (mutations.length === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'));
  const policy = spec.reinvocationPolicy;
  if (!policy) errors.push(required('spec.reinvocationPolicy'));
  else if (!reinvocationPolicies.includes(policy)) errors.push(notSupported('spec.reinvocationPolicy', policy, reinvocationPolicies));
  return errors;
}

/** The patch of its type, and none of the other. */
function validateMutation(mutation: Part, path: string): FieldError[] {
  const {patchType} = mutation;
  if (!patchType) return [required(`${path}.patchType`)];
  if (!patchTypes.includes(patchType)) return [notSupported(`${path}.patchType`, patchType, patchTypes)];
  const [own, other] = patchType === 'JSONPatch' ? ['jsonPatch', 'applyConfiguration'] : ['applyConfiguration', 'jsonPatch'];
  const errors: FieldError[] = [];
  if (!mutation[own!]) errors.push(required(`${path}.${own}`, `must be specified when patchType is ${patchType}`));
  else if (!mutation[own!].expression?.trim()) errors.push(required(`${path}.${own}.expression`));
  if (mutation[other!]) errors.push(invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`));
  return errors;
}
