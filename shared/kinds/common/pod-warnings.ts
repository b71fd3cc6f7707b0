/** Warnings about pods and their templates. */
import type {KubeObject} from '../../object.ts';

export function podWarnings(_object: KubeObject): string[] {
  return [];
}
