/** The parameter `includeObject`: what a row says of its object besides the cells. */
import {badRequest} from '../../errors.ts';
import {goQuote} from '../../field-errors.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** @throws StatusError 400 */
export function includeObjectPolicy(value: string | undefined): IncludeObject {
  if (value === undefined || value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
