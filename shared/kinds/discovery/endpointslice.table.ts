/** Endpoint slices in a table. */
import {ageOf, nameOf, shortened, unset} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const endpointSliceTable: KindTable = {
  columns: [
    name,
    text('AddressType', 'Kind of its addresses.'),
    text('Ports', 'Ports that every endpoint has.'),
    text('Endpoints', 'Addresses of its endpoints.'),
    age,
  ],
  cells: (object, now) => [
    nameOf(object),
    object.addressType ?? '',
    shortened(list(object.ports).map(({port, name}) => String(port ?? name ?? '*'))) || unset,
    shortened(list(object.endpoints).flatMap(({addresses}) => list(addresses))) || unset,
    ageOf(object, now),
  ],
};
