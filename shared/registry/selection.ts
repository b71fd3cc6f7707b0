/** The selectors of a request as one question to a stored item, answered from its key and index without parsing it. */
import type {ListOptions} from '../http/list-options.ts';
import {fieldMatcher, parseFieldSelector} from '../selector/fields.ts';
import {labelMatcher, parseLabelSelector} from '../selector/labels.ts';
import type {Index} from '../storage/contract.ts';
import type {RequestContext} from './context.ts';

export type ItemFilter = (item: {key: string; index: Index}) => boolean;

/** Undefined when the request selects everything. @throws StatusError 400 for selectors that do not parse or name fields the type does not have */
export function itemFilter(
  context: Pick<RequestContext, 'resource' | 'info'>,
  options: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>,
): ItemFilter | undefined {
  const filters: ItemFilter[] = [];
  if (options.labelSelector !== '') {
    const matches = labelMatcher(parseLabelSelector(options.labelSelector));
    filters.push((item) => matches(item.index.labels ?? {}));
  }
  if (options.fieldSelector !== '')
    filters.push(fieldMatcher(parseFieldSelector(options.fieldSelector, context.resource), context.resource.namespaced));
  const [first, second] = filters;
  return first && second ? (item) => first(item) && second(item) : first;
}
