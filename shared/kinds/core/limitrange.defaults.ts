/** Limits for containers: a bound that is given stands in for a default that is not. */
import {type Defaults, isEmptyMap} from '../common/defaulter.ts';

export const limitRangeDefaults: Defaults = {
  'core/v1.LimitRangeItem': (item) => {
    if (item.type !== 'Container') return;
    const limits = {...item.max, ...item.default};
    if (!isEmptyMap(limits)) item.default = limits;
    const requests = {...item.min, ...limits, ...item.defaultRequest};
    if (!isEmptyMap(requests)) item.defaultRequest = requests;
  },
};
