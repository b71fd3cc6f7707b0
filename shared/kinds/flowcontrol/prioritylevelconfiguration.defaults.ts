/** Shares and queues of a priority level. */
import {type Defaults, fillZero} from '../common/defaulter.ts';

export const priorityLevelConfigurationDefaults: Defaults = {
  'flowcontrol/v1.ExemptPriorityLevelConfiguration': (level) => {
    level.nominalConcurrencyShares ??= 0;
    level.lendablePercent ??= 0;
  },
  'flowcontrol/v1.LimitedPriorityLevelConfiguration': (level) => {
    level.nominalConcurrencyShares ??= 30;
    level.lendablePercent ??= 0;
  },
  'flowcontrol/v1.QueuingConfiguration': (queuing) => {
    fillZero(queuing, 'queues', 64);
    fillZero(queuing, 'handSize', 8);
    fillZero(queuing, 'queueLengthLimit', 50);
  },
};
