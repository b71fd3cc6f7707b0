/** ListOptions: the query of lists, watches and collection deletes, parsed and judged in the reference's words. */
import {badRequest} from '../errors.ts';
import {type FieldError, fieldForbidden, goQuote, invalidObject, notSupported} from '../field-errors.ts';
import {isTrue} from './request-info.ts';

export interface ListOptions {
  labelSelector: string;
  fieldSelector: string;
  watch: boolean;
  allowWatchBookmarks: boolean;
  resourceVersion: string;
  resourceVersionMatch: string;
  timeoutSeconds?: number;
  limit: number;
  continue: string;
  sendInitialEvents?: boolean;
}

type Query = readonly (readonly [name: string, value: string])[];

/** @throws StatusError 400 for what does not parse, 422 for combinations that make no sense. */
export function listOptions(query: Query, forceWatch = false): ListOptions {
  const options: ListOptions = {
    labelSelector: '',
    fieldSelector: '',
    watch: forceWatch,
    allowWatchBookmarks: false,
    resourceVersion: '',
    resourceVersionMatch: '',
    limit: 0,
    continue: '',
  };
  if (query.length === 0) return options;
  const seen = new Set<string>();
  for (const [name, value] of query) {
    // The first of repeated parameters counts.
    if (seen.has(name)) continue;
    seen.add(name);
    switch (name) {
      case 'labelSelector':
      case 'fieldSelector':
      case 'resourceVersion':
      case 'resourceVersionMatch':
      case 'continue':
        options[name] = value;
        break;
      case 'watch':
        options.watch = forceWatch || isTrue(value);
        break;
      case 'allowWatchBookmarks':
        options.allowWatchBookmarks = isTrue(value);
        break;
      case 'sendInitialEvents':
        options.sendInitialEvents = isTrue(value);
        break;
      case 'limit':
        options.limit = parseInteger(value);
        break;
      case 'timeoutSeconds':
        options.timeoutSeconds = parseInteger(value);
        break;
    }
  }
  const errors = validate(options);
  if (errors.length > 0) throw invalidObject({group: 'meta.k8s.io', kind: 'ListOptions'}, '', errors);
  return options;
}

/** A query integer as Go's strconv reads it. */
export function parseInteger(value: string): number {
  if (value === '') return 0;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`);
  const number = Number(value);
  if (Math.abs(number) > 1e18 && !isInt64(value)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: value out of range`);
  return number;
}

/** Near the bound a double cannot tell, and a million digits need not be read. */
function isInt64(value: string): boolean {
  if (Math.abs(Number(value)) > 1e19) return false;
  const exact = BigInt(value.replace('+', ''));
  return BigInt.asIntN(64, exact) === exact;
}

function validate(options: ListOptions): FieldError[] {
  return options.watch ? validateWatch(options) : validateList(options);
}

const match = 'resourceVersionMatch';

function validateList(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (options.resourceVersionMatch !== '') {
    if (options.resourceVersion === '')
      errors.push(fieldForbidden(match, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continue !== '') errors.push(fieldForbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
    if (options.resourceVersionMatch !== 'Exact' && options.resourceVersionMatch !== 'NotOlderThan')
      errors.push(notSupported(match, options.resourceVersionMatch, ['Exact', 'NotOlderThan', '']));
    if (options.resourceVersionMatch === 'Exact' && options.resourceVersion === '0')
      errors.push(fieldForbidden(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (options.sendInitialEvents !== undefined) errors.push(fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function validateWatch(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (options.sendInitialEvents !== undefined && options.resourceVersionMatch !== 'NotOlderThan')
    errors.push(fieldForbidden(match, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (options.resourceVersionMatch !== '') {
    if (options.sendInitialEvents === undefined)
      errors.push(fieldForbidden(match, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (options.resourceVersionMatch !== 'NotOlderThan') errors.push(notSupported(match, options.resourceVersionMatch, ['NotOlderThan']));
    if (options.continue !== '') errors.push(fieldForbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
}
