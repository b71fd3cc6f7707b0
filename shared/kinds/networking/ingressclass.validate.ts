/** Whether an ingress class is well formed. Its controller stays. */
import {type FieldError, fieldForbidden, notSupported, required, tooLong} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {domainPrefixedPath, label} from '../common/checks.ts';
import type {Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {byteLength} from '../common/names.ts';
import {typedReference} from './references.validate.ts';

const maxControllerBytes = 250;
const scopes = ['Cluster', 'Namespace'];

export function validateIngressClass({spec}: KubeObject): FieldError[] {
  const {controller = '', parameters} = spec ?? {};
  return [
    ...(byteLength(controller) > maxControllerBytes ? [tooLong('spec.controller', maxControllerBytes)] : []),
    ...domainPrefixedPath(controller, 'spec.controller'),
    ...(parameters ? validateParameters(parameters) : []),
  ];
}

export const validateIngressClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateImmutable(object.spec?.controller ?? '', old.spec?.controller ?? '', 'spec.controller'),
  ...validateIngressClass(object),
];

function validateParameters(parameters: Part): FieldError[] {
  const path = 'spec.parameters';
  const {scope, namespace} = parameters;
  const errors = typedReference(parameters, path);
  if (scope == null) return [...errors, required(`${path}.scope`)];
  if (!scopes.includes(scope)) errors.push(notSupported(`${path}.scope`, scope, scopes));
  else if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else errors.push(...label(namespace, `${path}.namespace`));
  } else if (namespace !== undefined) errors.push(fieldForbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  return errors;
}
