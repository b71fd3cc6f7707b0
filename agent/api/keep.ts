/** What the agent keeps of objects that it watches: nobody here asks who wrote which field. */
import type {KubeObject} from '../../shared/object.ts';

export function withoutManagers<T extends KubeObject>(object: T): T {
  const {managedFields: _, ...metadata} = object.metadata;
  return {...object, metadata};
}
