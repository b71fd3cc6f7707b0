/** An identity for processes in pods. */
import type {KubeObject} from '../../object.ts';
import {define} from '../define.ts';

export const serviceAccount = define({
  deleteReturnsObject: true,
  metadataOnUpdate: ['update', 'full'],
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
});

/** References to secrets are local: only their names are kept. */
function keepSecretNames(object: KubeObject): void {
  if (object.secrets) object.secrets = (object.secrets as {name?: string}[]).map(({name}) => (name === undefined ? {} : {name}));
}
