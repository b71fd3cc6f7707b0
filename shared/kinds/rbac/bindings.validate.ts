/** Whether a binding is well formed: a role of this group, which stays, and subjects. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {list, type Part} from '../common/loose.ts';
import {pathSegment} from '../common/names.ts';

const group = 'rbac.authorization.k8s.io';
const subjectKinds = ['ServiceAccount', 'User', 'Group'];

export function validateBinding({roleRef, subjects}: KubeObject, isNamespaced: boolean): FieldError[] {
  const {apiGroup = '', kind = '', name = ''} = roleRef ?? {};
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(apiGroup === group ? [] : [notSupported('roleRef.apiGroup', apiGroup, [group])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name ? problems('roleRef.name', name, pathSegment(name)) : [required('roleRef.name')]),
    ...list(subjects).flatMap((subject, index) => validateSubject(subject, isNamespaced, `subjects[${index}]`)),
  ];
}

export function keptRoleRef({roleRef}: KubeObject, old: KubeObject): FieldError[] {
  if (sameJson(shown(roleRef), shown(old.roleRef))) return [];
  return [invalid('roleRef', shown(roleRef), 'cannot change roleRef')];
}

const shown = (roleRef: Part) => ({APIGroup: roleRef?.apiGroup ?? '', Kind: roleRef?.kind ?? '', Name: roleRef?.name ?? ''});

function validateSubject({kind = '', apiGroup = '', name = '', namespace}: Part, isNamespaced: boolean, path: string): FieldError[] {
  const errors = name ? [] : [required(`${path}.name`)];
  if (kind === 'ServiceAccount') {
    if (name) errors.push(...subdomain(name, `${path}.name`));
    if (apiGroup) errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']));
    if (!isNamespaced && !namespace) errors.push(required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [group]));
  } else errors.push(notSupported(`${path}.kind`, kind, subjectKinds));
  return errors;
}
