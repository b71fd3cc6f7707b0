/** Bindings of validating admission policies in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {paramText} from './param-ref.table.ts';

export const validatingAdmissionPolicyBindingTable: KindTable = {
  columns: [name, text('PolicyName', 'Policy that is bound.'), text('ParamRef', 'Parameters that it is bound with.'), age],
  cells: (object, now) => [nameOf(object), object.spec?.policyName ?? '', paramText(object.spec?.paramRef), ageOf(object, now)],
};
