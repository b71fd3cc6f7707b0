/** Cluster trust bundles in a table. */
import {nameOf, none} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';

export const clusterTrustBundleTable: KindTable = {
  columns: [name, text('SignerName', 'Signer whose roots it holds.')],
  cells: (object) => [nameOf(object), object.spec?.signerName || none],
};
