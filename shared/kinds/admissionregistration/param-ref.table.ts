/** Parameters of a policy binding as a cell. */
import {byKey, unset} from '../common/cells.table.ts';
import {entries, list, type Part} from '../common/loose.ts';

/** By name (any namespace as `*`), or by selector. */
export function paramText(ref: Part): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`;
  return ref?.selector ? selectorAsGo(ref.selector) : unset;
}

/** The reference prints the selector as its struct. */
function selectorAsGo({matchLabels, matchExpressions}: Part): string {
  const labels = entries(matchLabels)
    .sort(byKey)
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const requirements = list(matchExpressions)
    .map(({key, operator, values}) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${list(values).join(' ')}],},`)
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${requirements}},}`;
}
