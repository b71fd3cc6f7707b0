/** Whether a replication controller is well formed. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {selectorMatches} from '../common/labels.ts';
import {podTemplate} from '../common/pod-spec.ts';
import {replicaStatus} from '../common/status.ts';

export function validateReplicationController({spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const selector = spec.selector ?? {};
  const isEmpty = Object.keys(selector).length === 0;
  const errors = [
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(isEmpty ? [required('spec.selector')] : []),
    ...(spec.replicas === undefined ? [required('spec.replicas')] : nonNegative(spec.replicas, 'spec.replicas')),
  ];
  if (!spec.template) return [...errors, required('spec.template')];
  const labels = spec.template.metadata?.labels;
  if (!isEmpty && !selectorMatches({matchLabels: selector}, labels))
    errors.push(invalid('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`'));
  errors.push(...podTemplate(spec.template, 'spec.template'));
  const pod = spec.template.spec ?? {};
  if (pod.restartPolicy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', pod.restartPolicy ?? '', ['Always']));
  if (pod.activeDeadlineSeconds !== undefined)
    errors.push(
      fieldForbidden('spec.template.spec.activeDeadlineSeconds', 'activeDeadlineSeconds in ReplicationController is not Supported'),
    );
  return errors;
}

export const validateReplicationControllerUpdate = (object: KubeObject, _old: KubeObject, subresource: string): FieldError[] =>
  subresource === 'status' ? replicaStatus(object.status) : validateReplicationController(object);
