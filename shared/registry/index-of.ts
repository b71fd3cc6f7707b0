/** What selectors can ask of an object, taken out of it before it is stored. */
import type {Strategy} from '../kinds/strategy.ts';
import type {KubeObject} from '../object.ts';
import type {Index} from '../storage/contract.ts';

export function indexOf(strategy: Strategy, object: KubeObject): Index {
  const {labels} = object.metadata;
  const fields = strategy.selectableFields?.(object);
  return {...(labels && Object.keys(labels).length > 0 && {labels}), ...(fields && {fields})};
}
