/** Paths inside of volumes: relative, without steps back. */
import {type FieldError, invalid} from '../../field-errors.ts';

export const noBacksteps = (path: string, field: string): FieldError[] =>
  path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];

export const descendingPath = (path: string, field: string): FieldError[] => [
  ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
  ...noBacksteps(path, field),
];

/** Names that begin with two dots belong to the node agent. */
export const unreservedPath = (path: string, field: string): FieldError[] => [
  ...descendingPath(path, field),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : []),
];
