/** Some of the addresses behind a service. */
import {emptyListsAsNull} from '../common/empty-lists.ts';
import {define} from '../define.ts';
import {validateEndpointSlice, validateEndpointSliceUpdate} from './endpointslice.validate.ts';

export const endpointSlice = define({
  validate: (object) => validateEndpointSlice(object),
  validateUpdate: validateEndpointSliceUpdate,
  generation: true,
  generationFollows: ({addressType, endpoints, ports, metadata}) => [addressType, endpoints, ports, metadata.labels],
  warningsOnCreate: (object) => (object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
  canonicalize: emptyListsAsNull('endpoints', 'ports'),
});
