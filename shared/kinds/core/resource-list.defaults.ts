/** Amounts of resources are kept in thousandths: what is finer is rounded up. */
import {roundToMilli} from '../../schema/quantity.ts';
import type {Defaults} from '../common/defaulter.ts';

export const resourceListDefaults: Defaults = {
  'core/v1.ResourceList': (amounts) => {
    for (const name in amounts) {
      const given = amounts[name];
      const rounded = roundToMilli(given);
      if (rounded !== given) amounts[name] = rounded;
    }
  },
};
