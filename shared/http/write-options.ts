/** CreateOptions, UpdateOptions, PatchOptions: the query of the writing verbs, parsed and judged in the reference's words. */
import {type FieldError, fieldForbidden, invalid, invalidObject, notSupported, tooLong} from '../field-errors.ts';
import {isTrue} from './request-info.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force?: boolean;
}

type Query = readonly (readonly [name: string, value: string])[];

const byDefault: WriteOptions = {dryRun: false, fieldManager: '', fieldValidation: 'Warn'};

/** `apply`: the patch is an apply, which alone may be forced. @throws StatusError 422 */
export function writeOptions(kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions', query: Query, apply = false): WriteOptions {
  if (query.length === 0) return byDefault;
  const options = {...byDefault};
  const errors: FieldError[] = [];
  const dryRun: string[] = [];
  let fieldValidation: string | undefined;
  for (const [name, value] of query) {
    if (name === 'dryRun' && value !== '') dryRun.push(value);
    else if (name === 'fieldManager') options.fieldManager = value;
    else if (name === 'fieldValidation') fieldValidation = value;
    else if (name === 'force') options.force = isTrue(value);
  }
  errors.push(...fieldManagerErrors(options.fieldManager), ...dryRunErrors(dryRun));
  options.dryRun = dryRun.length > 0;
  if (fieldValidation !== undefined && fieldValidation !== '') {
    if (fieldValidation === 'Ignore' || fieldValidation === 'Warn' || fieldValidation === 'Strict')
      options.fieldValidation = fieldValidation;
    else errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (kind === 'PatchOptions' && options.force !== undefined && !apply)
    errors.push(fieldForbidden('force', 'may not be specified for non-apply patch'));
  if (errors.length > 0) throw invalidObject({group: 'meta.k8s.io', kind}, '', errors);
  return options;
}

export const dryRunErrors = (dryRun: readonly string[]): FieldError[] =>
  dryRun.every((value) => value === 'All') ? [] : [notSupported('dryRun', [...new Set(dryRun)].sort(), ['All'])];

const maxFieldManagerBytes = 128;

function fieldManagerErrors(manager: string): FieldError[] {
  if (Buffer.byteLength(manager) > maxFieldManagerBytes) return [tooLong('fieldManager', maxFieldManagerBytes)];
  for (const [at, char] of [...manager].entries())
    if (/\p{C}/u.test(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      return [invalid('fieldManager', manager, `invalid character U+${code} (at position ${at})`)];
    }
  return [];
}
