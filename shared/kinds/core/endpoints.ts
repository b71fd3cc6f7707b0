/** The addresses behind a service, in their first form. That the kind is deprecated is said by its life cycle, not here. */

import type {KubeObject} from '../../object.ts';
import {ipWarnings} from '../common/ip.ts';
import {define} from '../define.ts';
import {validateEndpoints} from './endpoints.validate.ts';

interface Subset {
  addresses?: {ip: string}[];
  notReadyAddresses?: {ip: string}[];
}

function warnings(object: KubeObject): string[] {
  if (object.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return ((object.subsets ?? []) as Subset[]).flatMap((subset, index) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ip}, at) => ipWarnings(`subsets[${index}].${list}[${at}].ip`, ip)),
    ),
  );
}

export const endpoints = define({
  validate: (object) => validateEndpoints(object),
  validateUpdate: (object, old) => validateEndpoints(object, old),
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['update', 'full'],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
});
