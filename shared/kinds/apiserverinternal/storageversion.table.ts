/** Storage versions in a table. */
import {ageOf, nameOf, shortened, unset} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const storageVersionTable: KindTable = {
  columns: [
    name,
    text('CommonEncodingVersion', 'Version in which all servers encode.'),
    text('StorageVersions', 'Version in which each server encodes.'),
    age,
  ],
  cells(object, now) {
    const {commonEncodingVersion, storageVersions} = object.status ?? {};
    const servers = list(storageVersions).map(({apiServerID, encodingVersion}) => `${apiServerID}=${encodingVersion}`);
    return [nameOf(object), commonEncodingVersion ?? unset, shortened(servers) || unset, ageOf(object, now)];
  },
};
