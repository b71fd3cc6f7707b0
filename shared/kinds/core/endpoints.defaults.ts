/** Ports of endpoints. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const endpointsDefaults: Defaults = {
  'core/v1.EndpointPort': (port) => fill(port, 'protocol', 'TCP'),
};
