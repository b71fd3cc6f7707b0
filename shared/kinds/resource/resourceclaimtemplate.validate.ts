/** Whether the template of claims is well formed. It never changes. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateLabels} from '../common/labels.ts';
import {kubeFinalizers, validateAnnotations, validateImmutable} from '../common/metadata.ts';
import {validateClaimSpec} from './claim-spec.validate.ts';

export function validateResourceClaimTemplate({spec}: KubeObject): FieldError[] {
  const {labels, annotations, finalizers} = spec?.metadata ?? {};
  return [
    ...validateAnnotations(annotations, 'spec.metadata.annotations'),
    ...validateLabels(labels, 'spec.metadata.labels'),
    ...kubeFinalizers(finalizers, 'spec.metadata.finalizers'),
    ...validateClaimSpec(spec?.spec, 'spec.spec'),
  ];
}

export const validateResourceClaimTemplateUpdate = (object: KubeObject, old: KubeObject): FieldError[] =>
  validateImmutable(object.spec, old.spec, 'spec');
