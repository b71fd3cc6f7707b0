// TEMPORARY stub by the lead: the schema helper replaces it.
import type {KubeObject} from '../object.ts';
export function applyDefaults(_object: KubeObject): void {}
