/** Whether a secret is well formed: what each type requires to be there. Values are never shown. */
import {type FieldError, invalid, required, tooLong} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems} from '../common/checks.ts';
import {jsonProblem} from '../common/go-json.ts';
import {entries} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {configMapKey} from '../common/names.ts';
import {decodedBytes, keptImmutable, maxDataBytes} from './configmap.validate.ts';

const serviceAccountName = 'kubernetes.io/service-account.name';

/** Keys that a type requires; two lists of one each mean one of them. */
function missing(type: string, data: Record<string, string>): string[] {
  const absent = (...keys: string[]): string[] => keys.filter((key) => !Object.hasOwn(data, key));
  switch (type) {
    case 'kubernetes.io/dockercfg':
      return absent('.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return absent('.dockerconfigjson');
    case 'kubernetes.io/basic-auth': {
      const keys = absent('username', 'password');
      return keys.length === 2 ? keys : [];
    }
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : ['ssh-privatekey'];
    case 'kubernetes.io/tls':
      return absent('tls.crt', 'tls.key');
    default:
      return [];
  }
}

const jsonKeys: Record<string, string> = {
  'kubernetes.io/dockercfg': '.dockercfg',
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
};

export function validateSecret(object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const data: Record<string, string> = object.data ?? {};
  const type: string = object.type ?? '';
  let total = 0;
  for (const [key, value] of entries(data)) {
    errors.push(...problems(`data[${key}]`, key, configMapKey(key)));
    total += decodedBytes(value ?? '');
  }
  if (total > maxDataBytes) errors.push(tooLong('data', maxDataBytes));
  if (type === 'kubernetes.io/service-account-token' && !object.metadata.annotations?.[serviceAccountName])
    errors.push(required(`metadata.annotations[${serviceAccountName}]`));
  errors.push(...missing(type, data).map((key) => required(`data[${key}]`)));
  const key = jsonKeys[type];
  if (key && Object.hasOwn(data, key)) {
    const problem = jsonProblem(new TextDecoder().decode(Uint8Array.from(atob(data[key] ?? ''), (char) => char.charCodeAt(0))));
    if (problem) errors.push(invalid(`data[${key}]`, '<secret contents redacted>', problem));
  }
  return errors;
}

export const validateSecretUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateImmutable(object.type ?? '', old.type ?? '', 'type'),
  ...keptImmutable(object, old, ['data']),
  ...validateSecret(object),
];
