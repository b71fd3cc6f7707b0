/** Configuration as keys and values. */
import {define} from '../define.ts';

export const configMap = define({metadataOnUpdate: ['update', 'full']});
