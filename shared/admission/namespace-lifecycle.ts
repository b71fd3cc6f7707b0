/** Nothing is made in a namespace that is not there or that goes; some namespaces stay for ever. */
import {notFound} from '../errors.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

const immortal = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: Plugin = {
  name: 'NamespaceLifecycle',
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  mutate: check,
};

async function check(attributes: AdmissionAttributes, lookups: Lookups): Promise<void> {
  const {operation, resource, namespace, name} = attributes;
  if (resource.group === '' && resource.resource === 'namespaces') {
    if (operation === 'DELETE' && immortal.has(name)) throw refuse(attributes, 'this namespace may not be deleted');
    return;
  }
  // Deleting must always be possible; a review would tell strangers which namespaces there are.
  if (namespace === '' || operation === 'DELETE' || resource.group === 'authorization.k8s.io') return;
  const found = await lookups.namespace(namespace);
  if (!found) throw notFound({group: '', resource: 'namespaces'}, namespace);
  if (operation !== 'CREATE' || found.status?.phase !== 'Terminating') return;
  const error = refuse(attributes, `unable to create new content in namespace ${namespace} because it is being terminated`);
  error.status.details!.causes = [
    {reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace'},
  ];
  throw error;
}
