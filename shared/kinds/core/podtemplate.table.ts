/** Pod templates in a table. */
import {containerImages, containerNames, labelsText} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';

export const podTemplateTable: KindTable = {
  columns: [
    name,
    text('Containers', 'Names of the containers.'),
    text('Images', 'Images of the containers.'),
    text('Pod Labels', 'Labels of the pods.'),
  ],
  cells({metadata, template}) {
    const spec = template?.spec;
    return [metadata.name ?? '', containerNames(spec), containerImages(spec), labelsText(template?.metadata?.labels)];
  },
};
