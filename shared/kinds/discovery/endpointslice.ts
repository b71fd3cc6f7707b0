/** Some of the addresses behind a service. */
import {define} from '../define.ts';

export const endpointSlice = define({
  generation: true,
  generationFollows: ({addressType, endpoints, ports, metadata}) => [addressType, endpoints, ports, metadata.labels],
  warningsOnCreate: (object) => (object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
});
