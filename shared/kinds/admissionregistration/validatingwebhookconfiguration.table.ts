/** Validating webhook configurations in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, integer, type KindTable, name} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const validatingWebhookConfigurationTable: KindTable = {
  columns: [name, integer('Webhooks', 'Webhooks in the configuration.'), age],
  cells: (object, now) => [nameOf(object), list(object.webhooks).length, ageOf(object, now)],
};
