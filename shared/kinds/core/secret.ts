/** Configuration that should stay secret. What is written as stringData is stored as data. */
import type {KubeObject} from '../../object.ts';
import {entries} from '../common/loose.ts';
import {define} from '../define.ts';
import {validateSecret, validateSecretUpdate} from './secret.validate.ts';

export const secret = define({
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
  metadataOnUpdate: ['update', 'full'],
  prepareForCreate: mergeStringData,
  prepareForUpdate(object, old) {
    mergeStringData(object);
    if (!object.type) object.type = old.type;
  },
  selectableFields: (object) => ({type: object.type ?? ''}),
});

/** Written as text, kept as bytes. */
function mergeStringData(object: KubeObject): void {
  for (const [key, text] of entries(object.stringData)) object.data = {...object.data, [key]: encode(text ?? '')};
  delete object.stringData;
}

function encode(text: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}
