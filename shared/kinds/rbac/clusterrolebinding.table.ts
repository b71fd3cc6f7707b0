/** Cluster role bindings in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {roleText, subjectCells, subjectColumns} from './subjects.table.ts';

export const clusterRoleBindingTable: KindTable = {
  columns: [name, text('Role', 'Role that is granted.'), age, ...subjectColumns],
  cells: (object, now) => [nameOf(object), roleText(object), ageOf(object, now), ...subjectCells(object)],
};
