/** A secret of no type in particular is opaque. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const secretDefaults: Defaults = {
  'core/v1.Secret': (secret) => fill(secret, 'type', 'Opaque'),
};
