/** Whether an API service is well formed: named after its version and group, with priorities, and a service to ask unless it is local. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems, subdomain} from '../common/checks.ts';
import {list} from '../common/loose.ts';
import {dns1035Label, pathSegment, validPort} from '../common/names.ts';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

export function validateAPIService({metadata, spec: given}: KubeObject): FieldError[] {
  const {group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0, service, caBundle, insecureSkipTLSVerify} = given ?? {};
  const errors = validateName(metadata.name ?? '', `${version}.${group}`);
  if (!group && version !== 'v1') errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  if (group) errors.push(...subdomain(group, 'spec.group'));
  errors.push(...problems('spec.version', version, dns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > maxGroupPriority)
    errors.push(invalid('spec.groupPriorityMinimum', groupPriorityMinimum, `must be positive and less than ${maxGroupPriority}`));
  if (versionPriority <= 0 || versionPriority > maxVersionPriority)
    errors.push(invalid('spec.versionPriority', versionPriority, `must be positive and less than ${maxVersionPriority}`));
  if (!service) {
    if (caBundle) errors.push(invalid('spec.caBundle', `${atob(caBundle).length} bytes`, 'local APIServices may not have a caBundle'));
    if (insecureSkipTLSVerify)
      errors.push(invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'));
    return errors;
  }
  if (!service.namespace) errors.push(required('spec.service.namespace'));
  if (!service.name) errors.push(required('spec.service.name'));
  const portTexts = validPort(service.port ?? 0);
  if (portTexts.length) errors.push(invalid('spec.service.port', service.port ?? 0, `port is not valid: ${portTexts.join(', ')}`));
  if (insecureSkipTLSVerify && caBundle) errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  return errors;
}

export function validateAPIServiceUpdate(object: KubeObject, _old: KubeObject, subresource = ''): FieldError[] {
  if (subresource !== 'status') return validateAPIService(object);
  const statuses = ['True', 'False', 'Unknown'];
  return list(object.status?.conditions).flatMap(({status = ''}, index) =>
    statuses.includes(status) ? [] : [notSupported(`status.conditions[${index}].status`, status, statuses)],
  );
}

/** Names that could not stand in a path are refused by the strategy's name rule already. */
const validateName = (name: string, wanted: string): FieldError[] =>
  name && name !== wanted && pathSegment(name).length === 0
    ? [invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]
    : [];
