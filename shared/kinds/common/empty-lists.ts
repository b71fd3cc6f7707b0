/** A list that its type always prints is null when it is empty: the reference's store forgets which it was, and its answers say null. */
import type {KubeObject} from '../../object.ts';

export const emptyListsAsNull =
  (...fields: readonly string[]) =>
  (object: KubeObject): void => {
    for (const field of fields) if (Array.isArray(object[field]) && object[field].length === 0) object[field] = null;
  };
