/** Of several classes that call themselves the default the newest is, then the first by name. */
import type {KubeObject} from '../object.ts';

export function newestDefault(classes: readonly KubeObject[], annotations: readonly string[]): KubeObject | undefined {
  const isDefault = ({metadata}: KubeObject): boolean => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true');
  const created = ({metadata}: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return classes
    .filter(isDefault)
    .sort((one, other) => created(other) - created(one) || ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1))[0];
}
