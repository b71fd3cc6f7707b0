/** A service address in use: its name is the address, so its creation is the lock on it. */
import {define} from '../define.ts';
import {validateIPAddress, validateIPAddressUpdate} from './ipaddress.validate.ts';

export const ipAddress = define({
  validate: validateIPAddress,
  validateUpdate: validateIPAddressUpdate,
  name: 'ip',
  metadataOnUpdate: ['update', 'full'],
});
