/** Whether an address that a service uses is well formed: it names its user, who stays. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import type {Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {pathSegment} from '../common/names.ts';
import {segment} from './references.validate.ts';

const path = 'spec.parentRef';

export function validateIPAddress({spec}: KubeObject): FieldError[] {
  const parent = spec?.parentRef;
  if (!parent) return [required(path)];
  const {group, resource, namespace, name} = parent;
  return [
    // Empty is the core group, so it cannot be missing.
    ...(group ? subdomain(group, `${path}.group`) : []),
    ...segment(resource, `${path}.resource`),
    ...segment(name, `${path}.name`),
    ...(namespace ? problems(`${path}.namespace`, namespace, pathSegment(namespace)) : []),
  ];
}

export function validateIPAddressUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const parent = object.spec?.parentRef;
  return [...validateIPAddress(object), ...(sameJson(parent, old.spec?.parentRef) ? [] : [invalid(path, shown(parent), immutable)])];
}

const shown = (parent: Part) =>
  parent && {Group: parent.group ?? '', Resource: parent.resource ?? '', Namespace: parent.namespace ?? '', Name: parent.name ?? ''};
