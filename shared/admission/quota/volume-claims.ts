/** Claims of volumes: their number and size, altogether and for each storage class. */

import {nanos, printQuantity, wholeUnits} from '../../kinds/common/quantity.ts';
import type {KubeObject} from '../../object.ts';
import {type Evaluator, matchesScope, onWrite, type ScopeRequirement} from './evaluator.ts';
import type {Quantities} from './quantities.ts';

const count = 'count/persistentvolumeclaims';
const ofClass = '.storageclass.storage.k8s.io/';
const measured = ['persistentvolumeclaims', 'requests.storage'];

export const volumeClaimEvaluator: Evaluator = {
  // A status can say that more was allocated than is asked for.
  handles: (attributes) => onWrite(attributes) || (attributes.operation === 'UPDATE' && attributes.subresource === 'status'),
  measures: (name) => name === count || measured.some((own) => name === own || name.endsWith(ofClass + own)),
  usage,
  isInScope,
};

function usage(claim: KubeObject): Quantities {
  const amounts: Record<string, string> = {persistentvolumeclaims: '1', [count]: '1'};
  const size = storage(claim);
  if (size !== undefined) amounts['requests.storage'] = size;
  const className = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName;
  if (className) for (const name of measured) if (amounts[name] !== undefined) amounts[className + ofClass + name] = amounts[name];
  return amounts;
}

/** What it asks for, or what it was given when that is more; in whole bytes. */
function storage({spec, status}: KubeObject): string | undefined {
  const asked = spec?.resources?.requests?.storage;
  if (asked === undefined) return undefined;
  const given = status?.allocatedResources?.storage;
  const size = given !== undefined && nanos(given) > nanos(asked) ? given : asked;
  return printQuantity(wholeUnits(nanos(size)) * 1_000_000_000n, size);
}

/** While a claim moves from one class of attributes to another it is in the scope of both. */
function isInScope({spec, status}: KubeObject, scope: ScopeRequirement): boolean {
  if (scope.scopeName !== 'VolumeAttributesClass') return false;
  const classes = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter(Boolean);
  return classes.length > 0 ? classes.some((name) => matchesScope(scope, name)) : matchesScope(scope, undefined);
}
