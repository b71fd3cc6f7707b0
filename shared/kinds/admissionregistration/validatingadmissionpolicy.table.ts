/** Validating admission policies in a table. */
import {ageOf, nameOf, unset} from '../common/cells.table.ts';
import {age, integer, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const validatingAdmissionPolicyTable: KindTable = {
  columns: [name, integer('Validations', 'Validations of the policy.'), text('ParamKind', 'Kind of its parameters.'), age],
  cells(object, now) {
    const {paramKind, validations} = object.spec ?? {};
    const kind = paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : unset;
    return [nameOf(object), list(validations).length, kind, ageOf(object, now)];
  },
};
