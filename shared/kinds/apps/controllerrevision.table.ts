/** Controller revisions in a table. */
import {type KubeObject, parseGroupVersion} from '../../object.ts';
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const controllerRevisionTable: KindTable = {
  columns: [name, text('Controller', 'Object whose state it keeps.'), text('Revision', 'Number of the state.'), age],
  cells: (object, now) => [nameOf(object), controllerOf(object), object.revision ?? 0, ageOf(object, now)],
};

function controllerOf({metadata}: KubeObject): string {
  const owner = metadata.ownerReferences?.find(({controller}) => controller);
  if (!owner) return none;
  const group = parseGroupVersion(owner.apiVersion)?.group;
  return `${(group ? `${owner.kind}.${group}` : owner.kind).toLowerCase()}/${owner.name}`;
}
