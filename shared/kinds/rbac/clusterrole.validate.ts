/** Whether a cluster role is well formed: rules, and the selectors of the roles that it gathers. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {type LabelSelector, validateLabelSelector} from '../common/labels.ts';
import {list} from '../common/loose.ts';
import {validateRules} from './rules.validate.ts';

const path = 'aggregationRule.clusterRoleSelectors';
const selectorsOf = ({aggregationRule}: KubeObject): LabelSelector[] => list(aggregationRule?.clusterRoleSelectors);

export const validateClusterRole = (object: KubeObject): FieldError[] => validate(object, false);

function validate(object: KubeObject, lenientValues: boolean): FieldError[] {
  const errors = validateRules(object.rules, false);
  if (!object.aggregationRule) return errors;
  const selectors = selectorsOf(object);
  if (selectors.length === 0) errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  for (const [index, selector] of selectors.entries()) {
    errors.push(...validateLabelSelector(selector, `${path}[${index}]`, {lenientValues}));
    // The reference shows the selector that it failed to make.
    if (validateLabelSelector(selector, '').length > 0) errors.push(invalid(`${path}[${index}]`, null, 'invalid label selector.'));
  }
  return errors;
}

export const validateClusterRoleUpdate = (object: KubeObject, old: KubeObject): FieldError[] =>
  validate(
    object,
    selectorsOf(old).some((selector) => validateLabelSelector(selector, '').length > 0),
  );
