/** Whether a replica set is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {validateImmutable} from '../common/metadata.ts';
import {replicaStatus} from '../common/status.ts';
import {replicaTemplate, workloadSelector} from '../common/workload.ts';

export function validateReplicaSet({spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  return [
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    // The reference's words: it grew out of deployments.
    ...workloadSelector(spec, {kind: 'deployment', unreadable: 'invalid label selector'}),
    ...replicaTemplate(spec),
  ];
}

export const validateReplicaSetUpdate = (object: KubeObject, old: KubeObject, subresource: string): FieldError[] =>
  subresource === 'status'
    ? replicaStatus(object.status)
    : [...validateReplicaSet(object), ...validateImmutable(object.spec?.selector, old.spec?.selector, 'spec.selector')];
