/** Of a node that sets nothing aside, everything can be allocated. */
import type {Defaults} from '../common/defaulter.ts';

export const nodeDefaults: Defaults = {
  'core/v1.NodeStatus': (status) => {
    if (status.capacity && !status.allocatable) status.allocatable = {...status.capacity};
  },
};
