/** A flow schema stands in the middle of the order of precedence. */
import {type Defaults, fillZero} from '../common/defaulter.ts';

export const flowSchemaDefaults: Defaults = {
  'flowcontrol/v1.FlowSchemaSpec': (spec) => fillZero(spec, 'matchingPrecedence', 1000),
};
