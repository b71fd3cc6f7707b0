/** Pod certificate requests in a table. */
import {labelsText, nameOf} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const podCertificateRequestTable: KindTable = {
  columns: [
    name,
    text('PodName', 'Pod that the certificate is for.'),
    text('ServiceAccountName', 'Service account of the pod.'),
    text('NodeName', 'Node of the pod.'),
    text('SignerName', 'Who is asked to sign.'),
    text('State', 'Whether it was issued, denied or failed.'),
    text('UnverifiedUserAnnotations', 'What the user of the pod adds, unchecked.'),
  ],
  cells(object) {
    const {spec = {}, status} = object;
    const state = list(status?.conditions).findLast(({type}) => ['Issued', 'Denied', 'Failed'].includes(type));
    return [
      nameOf(object),
      spec.podName ?? '',
      spec.serviceAccountName ?? '',
      spec.nodeName ?? '',
      spec.signerName ?? '',
      state?.type ?? 'Pending',
      labelsText(spec.unverifiedUserAnnotations),
    ];
  },
};
