/**
 * Errors of validation, each about one field. Their texts follow the reference's field package to the letter: a message is the
 * type's words, the bad value as Go prints it, and a detail.
 */
import {failure, type StatusError} from './errors.ts';

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  type: FieldErrorType;
  /** `spec.containers[0].name`; empty for the whole object. */
  field: string;
  /** The message without the field: `Invalid value: "x": why`. */
  message: string;
}

/** Go's %q for strings of JSON: double quotes, backslash escapes. */
export function goQuote(text: string): string {
  let out = '"';
  for (const ch of text) {
    const code = ch.codePointAt(0)!;
    if (ch === '"' || ch === '\\') out += `\\${ch}`;
    else if (ch === '\n') out += '\\n';
    else if (ch === '\r') out += '\\r';
    else if (ch === '\t') out += '\\t';
    else if (ch === '\u0007') out += '\\a';
    else if (ch === '\b') out += '\\b';
    else if (ch === '\f') out += '\\f';
    else if (ch === '\v') out += '\\v';
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else out += ch;
  }
  return `${out}"`;
}

/** The bad value as the reference prints it: strings quoted, scalars plain, the rest as JSON. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value);
}

const make = (type: FieldErrorType, words: string, field: string, value: string | undefined, detail: string): FieldError => {
  let message = words;
  if (value !== undefined) message += `: ${value}`;
  if (detail) message += `: ${detail}`;
  return {type, field, message};
};

export const required = (field: string, detail = ''): FieldError => make('FieldValueRequired', 'Required value', field, undefined, detail);
export const invalid = (field: string, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', 'Invalid value', field, printValue(value), detail);
export const duplicate = (field: string, value: unknown): FieldError =>
  make('FieldValueDuplicate', 'Duplicate value', field, printValue(value), '');
export const fieldNotFound = (field: string, value: unknown): FieldError =>
  make('FieldValueNotFound', 'Not found', field, printValue(value), '');
export const fieldForbidden = (field: string, detail: string): FieldError =>
  make('FieldValueForbidden', 'Forbidden', field, undefined, detail);
/** `supported` is printed in the order given: the reference sorts sets of values, and leaves lists as they are. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  make('FieldValueNotSupported', 'Unsupported value', field, printValue(value), `supported values: ${supported.map(goQuote).join(', ')}`);
export const tooLong = (field: string, maxBytes: number): FieldError =>
  make(
    'FieldValueTooLong',
    'Too long',
    field,
    undefined,
    maxBytes < 0 ? '' : `may not be more than ${maxBytes} byte${maxBytes === 1 ? '' : 's'}`,
  );
export const tooMany = (field: string, actual: number, max: number): FieldError =>
  make(
    'FieldValueTooMany',
    'Too many',
    field,
    actual < 0 ? undefined : String(actual),
    `must have at most ${max} item${max === 1 ? '' : 's'}`,
  );
/** 422 for an object of this kind: the aggregate of its errors, doubles removed, one cause each. */
export function invalidObject(kind: {group: string; kind: string}, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((error) => `${error.field ? `${error.field}: ` : ''}${error.message}`))];
  const about = `${kind.kind}${kind.group ? `.${kind.group}` : ''} "${name}" is invalid`;
  const message = texts.length === 0 ? about : texts.length === 1 ? `${about}: ${texts[0]}` : `${about}: [${texts.join(', ')}]`;
  return failure(422, 'Invalid', message, {
    details: {
      ...(name && {name}),
      ...(kind.group && {group: kind.group}),
      ...(kind.kind && {kind: kind.kind}),
      causes: errors.map((error) => ({reason: error.type, message: error.message, field: error.field})),
    },
  });
}
