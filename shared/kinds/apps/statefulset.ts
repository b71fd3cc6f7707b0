/** Pods with identities and storage of their own. */
import type {KubeObject} from '../../object.ts';
import {list} from '../common/loose.ts';
import {claimWarnings} from '../common/pod-warnings.ts';
import {workloadWarnings} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {validateStatefulSet, validateStatefulSetUpdate} from './statefulset.validate.ts';

export const statefulSet = define({
  ...workloadWarnings({own: ownWarnings}),
  validate: validateStatefulSet,
  validateUpdate: (object, old, {subresource}) => validateStatefulSetUpdate(object, old, subresource),
  name: 'dns1123Label',
  generation: true,
  newStatus: () => ({replicas: 0, availableReplicas: 0}),
  prepareForCreate: typeClaims,
  prepareForUpdate: typeClaims,
});

/** Claim templates are claims, whatever they call themselves. */
function typeClaims({spec}: KubeObject): void {
  for (const claim of list(spec?.volumeClaimTemplates)) Object.assign(claim, {apiVersion: 'v1', kind: 'PersistentVolumeClaim'});
}

function ownWarnings({spec}: KubeObject): string[] {
  return [
    ...list(spec?.volumeClaimTemplates).flatMap((claim, index) => claimWarnings(claim.spec, `spec.volumeClaimTemplates[${index}]`)),
    ...(spec?.revisionHistoryLimit < 0
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ];
}
