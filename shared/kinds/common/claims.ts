/** What a request for storage may say: in claims, in templates of stateful sets, in ephemeral volumes. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {need, oneOf, problems, subdomain} from './checks.ts';
import {validateLabelSelector, validateLabels} from './labels.ts';
import {entries, list, type Part} from './loose.ts';
import {validateAnnotations} from './metadata.ts';
import {dns1123Label} from './names.ts';
import {nanos} from './quantity.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  const errors = modes.flatMap((mode) => (accessModes.includes(mode) ? [] : [notSupported(path, mode, accessModes)]));
  const single = modes.includes('ReadWriteOncePod');
  if (single && modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode)))
    errors.push(fieldForbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  return errors;
}

export interface ClaimOptions {
  lenientValues?: boolean;
  lenientGroups?: boolean;
}

function dataSource(source: Part, path: string, options: ClaimOptions): FieldError[] {
  const {name, kind = '', apiGroup = '', namespace} = source;
  const errors = [...need(name, `${path}.name`), ...need(kind, `${path}.kind`)];
  if (!apiGroup && kind !== 'PersistentVolumeClaim')
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  if (apiGroup && !options.lenientGroups) errors.push(...subdomain(apiGroup, `${path}.apiGroup`));
  if (namespace) errors.push(...problems(`${path}.namespace`, namespace, dns1123Label(namespace)));
  return errors;
}

export function claimSpec(spec: Part, path: string, options: ClaimOptions = {}): FieldError[] {
  const modes = list(spec?.accessModes);
  const errors = modes.length ? [] : [required(`${path}.accessModes`, 'at least 1 access mode is required')];
  errors.push(...validateLabelSelector(spec?.selector, `${path}.selector`, options), ...validateAccessModes(modes, `${path}.accessModes`));
  const size = spec?.resources?.requests?.storage;
  const at = `${path}.resources[storage]`;
  if (size === undefined) errors.push(required(at));
  else if (nanos(size) <= 0n) errors.push(invalid(at, size, 'must be greater than zero'));
  if (!spec) return errors;
  if (spec.storageClassName) errors.push(...subdomain(spec.storageClassName, `${path}.storageClassName`));
  errors.push(...oneOf(spec.volumeMode, volumeModes, `${path}.volumeMode`, true));
  const {dataSource: local, dataSourceRef: reference} = spec;
  if (local) errors.push(...dataSource({...local, namespace: undefined}, `${path}.dataSource`, options));
  if (reference) errors.push(...dataSource(reference, `${path}.dataSourceRef`, options));
  if (reference?.namespace) {
    if (local) errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'));
  } else if (local && reference) {
    const same = local.apiGroup === reference.apiGroup && local.kind === reference.kind && local.name === reference.name;
    if (!same) errors.push(invalid(path, {}, 'must match dataSourceRef'));
  }
  if (spec.volumeAttributesClassName) errors.push(...subdomain(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`));
  return errors;
}

/** A template may set labels and annotations, nothing else of metadata. */
export function claimTemplate(template: Part, path: string): FieldError[] {
  const meta = template.metadata ?? {};
  return [
    ...validateAnnotations(meta.annotations, `${path}.metadata.annotations`),
    ...validateLabels(meta.labels, `${path}.metadata.labels`),
    ...entries(meta).flatMap(([field, value]) =>
      field === 'labels' || field === 'annotations' || value === null || value === ''
        ? []
        : [fieldForbidden(`${path}.metadata.${field}`, 'cannot be set')],
    ),
    ...claimSpec(template.spec, `${path}.spec`),
  ];
}
