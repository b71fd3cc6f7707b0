/** What policies of both kinds share: parameters, variables, constraints, and the references of their bindings. CEL is compiled elsewhere. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {parseGroupVersion} from '../../object.ts';
import {problems, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {dns1035Label, dns1123Subdomain, pathSegment} from '../common/names.ts';
import {validateMatchConditions} from './match-conditions.validate.ts';
import {failurePolicies, validateMatchResources} from './rules.validate.ts';

export function validateFailurePolicyAndParams({failurePolicy, paramKind}: Part): FieldError[] {
  const path = 'spec.failurePolicy';
  const errors =
    failurePolicy === undefined
      ? [required(path)]
      : failurePolicies.includes(failurePolicy)
        ? []
        : [notSupported(path, failurePolicy, failurePolicies)];
  return paramKind ? [...errors, ...validateParamKind(paramKind, 'spec.paramKind')] : errors;
}

function validateParamKind({apiVersion = '', kind = ''}: Part, path: string): FieldError[] {
  const errors = validateVersion(apiVersion, `${path}.apiVersion`);
  if (!kind) return [...errors, required(`${path}.kind`)];
  const texts = dns1035Label(kind.toLowerCase());
  const words = `may have mixed case, but should otherwise match: ${texts.join(',')}`;
  return texts.length ? [...errors, invalid(`${path}.kind`, kind, words)] : errors;
}

function validateVersion(apiVersion: string, path: string): FieldError[] {
  if (!apiVersion) return [required(path)];
  const parsed = parseGroupVersion(apiVersion);
  if (!parsed) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const {group, version} = parsed;
  const groupTexts = group ? dns1123Subdomain(group) : [];
  const errors = groupTexts.length ? [invalid(path, group, groupTexts.join(','))] : [];
  if (!version) return [...errors, invalid(path, apiVersion, 'version must be specified')];
  const texts = dns1035Label(version);
  return texts.length ? [...errors, invalid(path, version, texts.join(','))] : errors;
}

export function validateMatchConstraints({matchConstraints: match}: Part): FieldError[] {
  const path = 'spec.matchConstraints';
  if (!match) return [required(path)];
  return [...validateMatchResources(match, path), ...(list(match.resourceRules).length ? [] : [required(`${path}.resourceRules`)])];
}

/** Conditions that an update leaves alone, with the parameters they may use, are not looked at again. */
export function validateConditions(spec: Part, old: Part): FieldError[] {
  const isKept = old && sameJson(spec.paramKind, old.paramKind) && sameJson(spec.matchConditions, old.matchConditions);
  return isKept ? [] : validateMatchConditions(spec.matchConditions, 'spec.matchConditions');
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);

export const validateVariables = ({variables}: Part): FieldError[] =>
  list(variables).flatMap(({name = '', expression = ''}, index) => {
    const path = `spec.variables[${index}]`;
    const errors: FieldError[] = [];
    if (!name.trim()) errors.push(required(`${path}.name`, 'name is not specified'));
    else if (!isIdentifier(name)) errors.push(invalid(`${path}.name`, name, 'must be a valid CEL identifier'));
    if (!expression.trim()) errors.push(required(`${path}.expression`, 'expression is not specified'));
    return errors;
  });

/** What bindings of both kinds have. */
export function validateBindingSpec({policyName, paramRef, matchResources}: Part): FieldError[] {
  return [
    ...(policyName ? subdomain(policyName, 'spec.policyName') : [required('spec.policyName')]),
    ...(paramRef ? validateParamRef(paramRef, 'spec.paramRef') : []),
    ...(matchResources ? validateMatchResources(matchResources, 'spec.matchResources') : []),
  ];
}

const notFoundActions = ['Deny', 'Allow'];

function validateParamRef({name = '', selector, parameterNotFoundAction: action}: Part, path: string): FieldError[] {
  const errors = name ? problems(`${path}.name`, name, pathSegment(name)) : [];
  const exclusive = (field: string) => fieldForbidden(`${path}.${field}`, 'name and selector are mutually exclusive');
  if (name && selector) errors.push(exclusive('name'));
  if (selector) errors.push(...validateLabelSelector(selector, `${path}.selector`));
  if (name && selector) errors.push(exclusive('selector'));
  if (!name && !selector) errors.push(required(path, 'one of name or selector must be specified'));
  const at = `${path}.parameterNotFoundAction`;
  if (!action) errors.push(required(at));
  else if (!notFoundActions.includes(action)) errors.push(notSupported(at, action, notFoundActions));
  return errors;
}
