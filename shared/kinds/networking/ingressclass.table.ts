/** Ingress classes in a table. */
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const ingressClassTable: KindTable = {
  columns: [name, text('Controller', 'Controller that implements the class.'), text('Parameters', 'Object with more settings.'), age],
  cells(object, now) {
    const isDefault = object.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
    const {controller, parameters} = object.spec ?? {};
    return [
      nameOf(object) + (isDefault ? ' (default)' : ''),
      controller ?? '',
      parameters
        ? `${[parameters.kind, ...(typeof parameters.apiGroup === 'string' ? [parameters.apiGroup] : [])].join('.')}/${parameters.name}`
        : none,
      ageOf(object, now),
    ];
  },
};
