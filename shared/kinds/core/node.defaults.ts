/** Of a node that sets nothing aside, everything can be allocated. The first address range is written and served by itself too. */
import type {Defaults} from '../common/defaulter.ts';

export const nodeDefaults: Defaults = {
  'core/v1.NodeSpec': (spec) => {
    if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
    else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
  },
  'core/v1.NodeStatus': (status) => {
    if (status.capacity && !status.allocatable) status.allocatable = {...status.capacity};
  },
};
