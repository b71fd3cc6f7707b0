/** Devices: a taint knows since when it is there. */
import type {Defaults} from '../common/defaulter.ts';

export const resourceSliceDefaults: Defaults = {
  'resource/v1.DeviceTaint': (taint, now) => {
    taint.timeAdded ??= `${new Date(now).toISOString().slice(0, 19)}Z`;
  },
  'resource/v1.Device': (device) => {
    for (const name in device.nodeAllocatableResourceMappings) device.nodeAllocatableResourceMappings[name].allocationMultiplier ??= '1';
  },
};
