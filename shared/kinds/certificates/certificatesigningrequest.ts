/** A request for a certificate: who asked stands in its spec, written by the server; conditions say what was decided. */
import type {JsonObject, KubeObject} from '../../object.ts';
import {rfc3339} from '../common/time.ts';
import {define, setOrDelete} from '../define.ts';
import {validateCertificateSigningRequest, validateCertificateSigningRequestUpdate} from './certificatesigningrequest.validate.ts';

interface Condition extends JsonObject {
  type: string;
}

export const certificateSigningRequest = define({
  validate: validateCertificateSigningRequest,
  validateUpdate: (object, old, {subresource}) => validateCertificateSigningRequestUpdate(object, old, subresource),
  name: () => [],
  metadataOnUpdate: ['full', 'update'],
  newStatus: () => ({}),
  prepareForCreate(object, {user}) {
    const {username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec} = (object.spec ?? {}) as JsonObject;
    object.spec = {
      ...spec,
      ...(user.name && {username: user.name}),
      ...(user.uid && {uid: user.uid}),
      ...(user.groups.length && {groups: [...user.groups]}),
      ...(Object.keys(user.extra ?? {}).length && {extra: structuredClone(user.extra)}),
    };
  },
  prepareForUpdate(object, old, {subresource, now}) {
    setOrDelete(object, 'spec', old.spec);
    if (subresource === 'status') {
      for (const decision of ['Approved', 'Denied']) keepDecision(object, old, decision);
      stampConditions(object, old, now);
    } else if (subresource === 'approval') {
      stampConditions(object, old, now);
      const conditions = object.status?.conditions;
      object.status = {...old.status};
      setOrDelete(object.status, 'conditions', conditions);
    } else setOrDelete(object, 'status', old.status);
  },
  selectableFields: (object) => ({'spec.signerName': object.spec?.signerName ?? ''}),
});

const conditionsOf = (object: KubeObject): Condition[] => object.status?.conditions ?? [];

/** The status endpoint may neither approve nor deny: such conditions stay as they were. */
function keepDecision(object: KubeObject, old: KubeObject, type: string): void {
  const kept = conditionsOf(old).filter((condition) => condition.type === type);
  const given = conditionsOf(object);
  const count = given.filter((condition) => condition.type === type).length;
  if (count === kept.length && count > 0) {
    let next = 0;
    object.status.conditions = given.map((condition) => (condition.type === type ? kept[next++]! : condition));
  }
}

function stampConditions(object: KubeObject, old: KubeObject, now: number): void {
  for (const condition of conditionsOf(object)) {
    condition.lastUpdateTime ??= rfc3339(now);
    if (condition.lastTransitionTime) continue;
    const same = conditionsOf(old).find((other) => other.type === condition.type && other.status === condition.status);
    condition.lastTransitionTime = same?.lastTransitionTime ?? rfc3339(now);
  }
}
