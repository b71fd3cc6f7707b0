/** Whether the template of claims is well formed. It never changes. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabels} from '../common/labels.ts';
import {immutable, kubeFinalizers, validateAnnotations} from '../common/metadata.ts';
import {validateClaimSpec} from './claim-spec.validate.ts';
import {shownTemplateSpec} from './shown.validate.ts';

export function validateResourceClaimTemplate({spec}: KubeObject): FieldError[] {
  const {labels, annotations, finalizers} = spec?.metadata ?? {};
  return [
    ...validateAnnotations(annotations, 'spec.metadata.annotations'),
    ...validateLabels(labels, 'spec.metadata.labels'),
    ...kubeFinalizers(finalizers, 'spec.metadata.finalizers'),
    ...validateClaimSpec(spec?.spec, 'spec.spec'),
  ];
}

export const validateResourceClaimTemplateUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateResourceClaimTemplate(object),
  ...(sameJson(object.spec, old.spec) ? [] : [invalid('spec', shownTemplateSpec(object.spec), immutable)]),
];
