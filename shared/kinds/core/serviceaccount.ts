/** An identity for processes in pods. */
import type {KubeObject} from '../../object.ts';
import {define} from '../define.ts';

export const serviceAccount = define({
  warningsOnCreate: (object) => warnings(object),
  warningsOnUpdate: (object, old) => (isEnforced(old) ? [] : warnings(object)),
  deleteReturnsObject: true,
  metadataOnUpdate: ['update', 'full'],
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
});

/** References to secrets are local: only their names are kept. */
function keepSecretNames(object: KubeObject): void {
  if (object.secrets) object.secrets = (object.secrets as {name?: string}[]).map(({name}) => (name === undefined ? {} : {name}));
}

const enforced = 'kubernetes.io/enforce-mountable-secrets';
const isEnforced = ({metadata}: KubeObject): boolean => metadata.annotations?.[enforced] !== undefined;
const warnings = (object: KubeObject): string[] =>
  isEnforced(object)
    ? [`metadata.annotations[${enforced}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`]
    : [];
