/** A request for devices is one for a single device. How taints are tolerated is a constant of the facts. */
import {type Defaulter, type Defaults, fill, fillZero} from '../common/defaulter.ts';

const oneDevice: Defaulter = (request) => {
  fill(request, 'allocationMode', 'ExactCount');
  if (request.allocationMode === 'ExactCount') fillZero(request, 'count', 1);
};

export const resourceClaimDefaults: Defaults = {
  'resource/v1.ExactDeviceRequest': oneDevice,
  'resource/v1.DeviceSubRequest': oneDevice,
};
