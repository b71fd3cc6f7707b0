/** Ports of endpoint slices have a name, if an empty one. */
import type {Defaults} from '../common/defaulter.ts';

export const endpointSliceDefaults: Defaults = {
  'discovery/v1.EndpointPort': (port) => {
    port.name ??= '';
    port.protocol ??= 'TCP';
  },
};
