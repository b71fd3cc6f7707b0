/** Whether the rules of a role are well formed: resources, or paths, which only cluster roles can grant. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import {list, type Part} from '../common/loose.ts';

export const validateRules = (rules: Part, isNamespaced: boolean): FieldError[] =>
  list(rules).flatMap((rule, index) => validateRule(rule, isNamespaced, `rules[${index}]`));

function validateRule(
  {verbs, apiGroups, resources, resourceNames, nonResourceURLs}: Part,
  isNamespaced: boolean,
  path: string,
): FieldError[] {
  const errors = list(verbs).length ? [] : [required(`${path}.verbs`, 'verbs must contain at least one value')];
  const urls = list(nonResourceURLs);
  if (urls.length > 0) {
    const at = `${path}.nonResourceURLs`;
    if (isNamespaced) errors.push(invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs'));
    if ([apiGroups, resources, resourceNames].some((names) => list(names).length > 0))
      errors.push(invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs'));
    return errors;
  }
  if (list(apiGroups).length === 0) errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (list(resources).length === 0) errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}
