/** Lease candidates in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const leaseCandidateTable: KindTable = {
  columns: [
    name,
    text('LeaseName', 'Lease that it wants.'),
    text('BinaryVersion', 'Version of its program.'),
    text('EmulationVersion', 'Version that it behaves as.'),
    age,
  ],
  cells(object, now) {
    const {leaseName, binaryVersion, emulationVersion} = object.spec ?? {};
    return [nameOf(object), leaseName ?? '', binaryVersion ?? '', emulationVersion ?? '', ageOf(object, now)];
  },
};
