/** Mutating admission policies in a table. */
import {ageOf, nameOf, unset} from '../common/cells.table.ts';
import {age, integer, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const mutatingAdmissionPolicyTable: KindTable = {
  columns: [name, integer('Mutations', 'Mutations of the policy.'), text('ParamKind', 'Kind of its parameters.'), age],
  cells(object, now) {
    const {paramKind, mutations} = object.spec ?? {};
    const kind = paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : unset;
    return [nameOf(object), list(mutations).length, kind, ageOf(object, now)];
  },
};
