/** Certificate signing requests in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {humanDuration} from '../common/human-duration.ts';
import {list} from '../common/loose.ts';

export const certificateSigningRequestTable: KindTable = {
  columns: [
    name,
    age,
    text('SignerName', 'Who is asked to sign.'),
    text('Requestor', 'Who asks.'),
    text('RequestedDuration', 'For how long the certificate should be valid.'),
    text('Condition', 'What was decided, and whether it was issued.'),
  ],
  cells(object, now) {
    const {spec = {}} = object;
    return [
      nameOf(object),
      ageOf(object, now),
      spec.signerName || none,
      spec.username ?? '',
      typeof spec.expirationSeconds === 'number' ? humanDuration(spec.expirationSeconds * 1000) : none,
      condition(object),
    ];
  },
};

/** A denial outweighs an approval. */
function condition({status}: KubeObject): string {
  const types = new Set(list(status?.conditions).map(({type}) => type));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${types.has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}
