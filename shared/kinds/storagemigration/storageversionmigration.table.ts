/** Storage version migrations in a table. */
import {nameOf} from '../common/cells.table.ts';
import {type KindTable, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const storageVersionMigrationTable: KindTable = {
  columns: [
    text('Name', 'Name of the object.'),
    text('Resource', 'Resource that is migrated.'),
    text('Status', 'How far the migration is.'),
  ],
  cells(object) {
    const {group, resource = ''} = object.spec?.resource ?? {};
    const phase = list(object.status?.conditions).findLast(
      ({type, status}) => status === 'True' && ['Running', 'Failed', 'Succeeded'].includes(type),
    );
    return [nameOf(object), group ? `${resource}.${group}` : resource, phase?.type ?? 'Unknown'];
  },
};
