/** What is asked of a log: read from the query as Go reads it, held against the rules, and written down for the agent. Pure. */
import {badRequest} from '../../errors.ts';
import {type FieldError, fieldForbidden, invalid, invalidObject} from '../../field-errors.ts';
import {parseInteger} from '../../http/list-options.ts';
import {isTrue, queryValue} from '../../http/request-info.ts';
import {readTime, timeFault} from '../../schema/time.ts';

type Query = readonly (readonly [string, string])[];

/** @returns the query for the agent. @throws StatusError 400, 422 */
export function logQuery(query: Query, name: string): string {
  const number = (field: string): number | undefined => {
    const value = queryValue(query, field);
    return value === undefined ? undefined : parseInteger(value);
  };
  const numbers = {sinceSeconds: number('sinceSeconds'), tailLines: number('tailLines'), limitBytes: number('limitBytes')};
  const sinceTime = timeOf(queryValue(query, 'sinceTime'));
  const {sinceSeconds, tailLines, limitBytes} = numbers;
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.push(fieldForbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (sinceSeconds !== undefined && sinceSeconds < 1) errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  if (queryValue(query, 'stream') !== undefined) errors.push(fieldForbidden('stream', 'may not be specified'));
  if (errors.length > 0) throw invalidObject({group: '', kind: 'PodLogOptions'}, name, errors);

  const asked = new URLSearchParams();
  for (const flag of ['follow', 'previous', 'timestamps']) if (isTrue(queryValue(query, flag))) asked.set(flag, 'true');
  if (sinceTime !== undefined) asked.set('sinceTime', sinceTime);
  for (const [field, value] of Object.entries(numbers)) if (value !== undefined) asked.set(field, String(value));
  asked.sort();
  return asked.toString();
}

function timeOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'null') return undefined;
  const time = readTime(text);
  if (time === undefined || time === null) throw badRequest(timeFault(text));
  return time;
}
