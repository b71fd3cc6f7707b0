/** A service address in use: its name is the address, so its creation is the lock on it. */
import {define} from '../define.ts';

export const ipAddress = define({
  name: 'ip',
  metadataOnUpdate: ['update', 'full'],
});
