/** A secret of no type in particular is opaque. What is written as text is kept as bytes, and owned by its writer as such. */
import {type Defaults, fill} from '../common/defaulter.ts';
import {entries} from '../common/loose.ts';

export const secretDefaults: Defaults = {
  'core/v1.Secret': (secret) => {
    fill(secret, 'type', 'Opaque');
    for (const [key, text] of entries(secret.stringData)) secret.data = {...secret.data, [key]: encode(text ?? '')};
    delete secret.stringData;
  },
};

function encode(text: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}
